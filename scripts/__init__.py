"""Programs beside the product: benchmarks, pictures, the embedded model, test vectors."""
