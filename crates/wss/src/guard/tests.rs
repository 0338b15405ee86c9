//! Guards: which keys they ask for, and which policies they refuse.
