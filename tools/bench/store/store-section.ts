// The input of the sections of bench:store.
import type { Section } from '../measure/benchmark.ts';

export type StoreSize = 'seconds' | 'rounds' | 'keys' | 'records';
export type StoreSection = Section<StoreSize>;
