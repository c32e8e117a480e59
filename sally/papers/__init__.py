"""One folder a paper: its study, published figures, tables, layout, figures and importer."""
