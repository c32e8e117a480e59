// Requests to the server; refusals are distinguished from lost connections.

import { t } from "./texts.js";

export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

export class Lost extends Error {}

// The server's time; the clock of a visitor's device may be wrong by minutes.
let skew = 0;
export const serverTime = () => Date.now() + (Math.abs(skew) > 2000 ? skew : 0);

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// An idempotency key, so that an answer sent twice counts once.
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The server's messages are English; other languages show a text by status code.
function worded(status, sentence) {
  if (document.documentElement.lang === "en" && sentence) return sentence;
  const key = `refused_${status}`;
  return t(key) === key ? t("refused_else") : t(key);
}

export async function call(path, { token = null, body = undefined, patience = 40000, keepalive = false } = {}) {
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let reply, told;
  try {
    reply = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      keepalive, // whether it is sent even though the page goes
      signal: AbortSignal.timeout(patience),
    });
    told = await reply.json();
    const date = Date.parse(reply.headers.get("date"));
    if (date) skew = date - Date.now();
  } catch {
    throw new Lost(t("lost"));
  }
  if (!reply.ok) throw new Refused(reply.status, worded(reply.status, told.error));
  return told;
}

// Retry until the server has answered, always with the same key.
export async function insist(path, options, lost = () => {}) {
  for (let wait = 500; ; wait = Math.min(2 * wait, 5000)) {
    try {
      return await call(path, options);
    } catch (why) {
      const busy = why instanceof Refused && (why.status === 429 || why.status === 503);
      if (!busy && !(why instanceof Lost)) throw why;
      if (!busy || why.status === 503) lost();
      await sleep(wait);
    }
  }
}
