// The input of the sections of bench:move.
import type { Section } from '../measure/benchmark.ts';

export type MoveSize = 'mib' | 'rounds' | 'seconds' | 'value' | 'load';
export type MoveSection = Section<MoveSize>;
