"""A text becomes markup in one place, where it is escaped; nothing else can be said."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given

from sally.output.html import UNSEEN, Html, anchor, join, tag, text
from tests.fixtures.any_text import any_text
from tests.output.hostile import REPLIES


class Read(HTMLParser):
    """What a parser makes of some markup."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_data(self, data):
        self.said += data


@given(any_text(), any_text())
def test_any_text_becomes_one_element_with_one_text(said, titled):
    result = Read(str(tag("p", said, title=titled)))
    assert [name for name, _ in result.tags if name != "span"] == ["p"]
    shown = said.replace("\r\n", "\n")
    assert result.said == UNSEEN.sub(lambda sign: f"U+{ord(sign.group()):04X}", shown)
    assert result.tags[0][1] == {"title": UNSEEN.sub("\ufffd", titled)}


@pytest.mark.parametrize("reply", REPLIES)
def test_hostile_reply_is_rendered_as_text(reply):
    assert [name for name, _ in Read(str(tag("pre", reply))).tags if name != "span"] == ["pre"]


def test_invisible_characters_are_shown_by_code_point():
    assert str(text("a\u202eb")) == 'a<span class="unseen">U+202E</span>b'
    assert str(text("tab\tand line\n")) == "tab\tand line\n"


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "https://example.org", "//x", "#a b", "", "#", '#a"b', "data:,"]
)
def test_links_outside_the_page_are_refused(href):
    with pytest.raises(ValueError, match="must stay on the page"):
        tag("a", "x", href=href)


@pytest.mark.parametrize("name", ["script", "style", "iframe", "img", "link", "form", "object"])
def test_elements_that_run_or_fetch_are_refused(name):
    with pytest.raises(ValueError, match="is not an allowed element"):
        tag(name)


@pytest.mark.parametrize("name", ["onclick", "style", "src", "srcset", "action", "xlink_href"])
def test_attributes_that_run_or_fetch_are_refused(name):
    with pytest.raises(ValueError, match="is not an allowed attribute"):
        tag("p", "x", **{name: "x"})


def test_html_cannot_be_constructed_from_text():
    with pytest.raises(TypeError, match="pass plain text as a str"):
        Html("<script>")


def test_joined_escapes_text_and_skips_none():
    assert str(join("a<", None, [tag("b", 1), ("c", None)], "")) == "a&lt;<b>1</b>c"
    assert str(tag("input", type="radio", checked=True, id="x", value=None)) == (
        '<input type="radio" checked id="x">'
    )


@given(any_text())
def test_anchor_ids_contain_only_letters_digits_and_dashes(name):
    assert str(tag("a", "x", href=f"#{anchor('e-', name)}"))
