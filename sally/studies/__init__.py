"""One study per file. A module defines `STUDY`."""
