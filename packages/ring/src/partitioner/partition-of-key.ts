// Key to partition. These functions may never change: they determine where every record is. Pure.
import { unreachable } from '@ringwright/base/assert';
import { keyBytesMax } from '@ringwright/base/limits';
import { intervalOfHash, keyHashOf } from './hash-intervals.ts';
import { md5Top } from './md5-top.ts';
import { murmur3 } from './murmur3.ts';
import type { Md5ShiftPartitioner, Partitioner } from './partitioner.ts';
import { rangeOfKey } from './ranges.ts';

type PartitionOf = (key: Uint8Array) => number;

/** Returns the partitioner as a function of the key, with its settings read once. */
export function partitionerOf(partitioner: Partitioner): PartitionOf {
  switch (partitioner.kind) {
    case 'md5-shift':
      return md5Shift(partitioner);
    case 'murmur3-mod': {
      const { partitions, seed } = partitioner;
      return (key) => murmur3(key, seed) % partitions;
    }
    case 'hash-intervals': {
      const [hashOf, intervalOf] = [keyHashOf(partitioner), intervalOfHash(partitioner)];
      return (key) => intervalOf(hashOf(key));
    }
    case 'ranges':
      return rangeOfKey(partitioner);
    default:
      return unreachable(partitioner);
  }
}

/** Swift: the top bits of MD5(prefix + key + suffix). */
function md5Shift({ power, prefix, suffix }: Md5ShiftPartitioner): PartitionOf {
  const shift = 32 - power;
  // JavaScript shifts by the count modulo 32: a shift by 32 would keep every bit.
  if (power === 0) return () => 0;
  if (prefix === '' && suffix === '') return (key) => md5Top(key) >>> shift;
  const salted = saltedBy(Buffer.from(prefix, 'hex'), Buffer.from(suffix, 'hex'));
  return (key) => md5Top(salted(key)) >>> shift;
}

/** Joins prefix, key and suffix in one buffer, which the next call overwrites. */
function saltedBy(prefix: Buffer, suffix: Buffer): (key: Uint8Array) => Uint8Array {
  const scratch = Buffer.alloc(prefix.length + keyBytesMax + suffix.length);
  prefix.copy(scratch);
  return (key) => {
    if (key.length > keyBytesMax) return Buffer.concat([prefix, key, suffix]);
    const end = prefix.length + key.length;
    scratch.set(key, prefix.length);
    scratch.set(suffix, end);
    return scratch.subarray(0, end + suffix.length);
  };
}
