"""The four knowing-doing games of ToMA (kang2026)."""
