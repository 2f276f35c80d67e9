// Which function maps a key to its partition, with its settings. Frozen for a ring's life. Pure.

export type Partitioner = Md5ShiftPartitioner | Murmur3ModPartitioner;

/** Swift: top `power` bits of MD5(prefix + key + suffix). Prefix and suffix are hex of raw bytes. */
export interface Md5ShiftPartitioner {
  readonly kind: 'md5-shift';
  readonly power: number;
  readonly prefix: string;
  readonly suffix: string;
}

/** M3DB: Murmur3 32-bit of the key, modulo any partition count. */
export interface Murmur3ModPartitioner {
  readonly kind: 'murmur3-mod';
  readonly partitions: number;
  readonly seed: number;
}
