#!/bin/bash
# Play the study knowing_doing with several models side by side on one accelerator, within a limit.
#
#     bash benchmarks/knowing_doing_run.sh PART SECONDS STORES BUNDLES MODEL...
#
# PART is primary or secondary. Each model has a store STORES/MODEL and, at the end, a bundle
# BUNDLES/knowing_doing-MODEL.sally.zip with every finished episode. Running it again continues
# where it stopped; nothing needs the network. Primary cells are played before secondary ones.
set -u
part=$1 seconds=$2 stores=$3 bundles=$4
shift 4
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
export HF_HUB_OFFLINE=1 SALLY_HF_ROWS="${SALLY_HF_ROWS:-128}"
mkdir -p "$stores" "$bundles"
jobs=()
for model in "$@"; do
  timeout -s INT -k 20 "$seconds" python3 -m sally run knowing_doing --model "hf:$model" \
    --cell "$part*" --out "$stores/$model" > "$stores/$model-$part.log" 2>&1 &
  jobs+=($!)
done
wait "${jobs[@]}"
for model in "$@"; do
  echo "== $model"
  tail -c 500 "$stores/$model-$part.log"
  python3 -m sally pack "$stores/$model" --small --out "$bundles/knowing_doing-$model.sally.zip"
done
