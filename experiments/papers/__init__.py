"""What the papers say: compositions, tables, figures. Data only."""
