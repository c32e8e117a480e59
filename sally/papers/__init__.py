"""One folder per paper: its study, published figures, tables, layout, figures and importer."""
