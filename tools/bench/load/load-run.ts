// Starts the program that loads a server, and returns its figures.
import path from 'node:path';
import { outputOf } from '../measure/finished-program.ts';
import type { LoadFigures } from '../peers/redis-benchmark.ts';
import type { TargetKind } from './load-target.ts';

const program = path.join(import.meta.dirname, '../load.ts');

export interface Load {
  readonly kind: TargetKind;
  readonly addresses: readonly string[];
  /** `fill` writes every key once, except those below `from`. */
  readonly op: 'put' | 'get' | 'fill';
  readonly seconds: number;
  readonly inFlight: number;
  readonly from?: number;
  /** Number of keys to draw from. */
  readonly keys: number;
  readonly valueBytes: number;
  readonly seed: number;
}

export async function runLoad(load: Load): Promise<LoadFigures> {
  const text = await outputOf(process.execPath, [program, JSON.stringify(load)]);
  return JSON.parse(text) as LoadFigures; // written by load.ts
}
