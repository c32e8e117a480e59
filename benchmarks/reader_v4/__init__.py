"""Version 4 of the reply reader, kept for the sensitivity table of `benchmarks/reply_reader.py`."""
