// What an import makes: the first version, the builder's state, and what to know of it. Pure data.
import type { Finding } from '@ringwright/base/finding';
import type { Ring } from '@ringwright/ring/ring';
import type { BuilderState } from './builder-state.ts';

export interface ImportedRing {
  /** Null when the source has devices but has never placed a partition. */
  readonly ring: Ring | null;
  readonly state: BuilderState;
  readonly warnings: readonly Finding[];
}
