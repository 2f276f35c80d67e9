// Hours since 1970: what the builder counts rest and ramps in.

export const MS_PER_HOUR = 3_600_000;
