"""Results become rows: samples, estimates with intervals, rates and warnings of each cell, as facts."""
