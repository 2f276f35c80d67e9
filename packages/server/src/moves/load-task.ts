// A load: the partition that this device is to hold, and what it takes to fill its file. Pure data.
import type { Move } from '@ringwright/ring/move';
import type { FinishProposal } from '../coordinate/propose.ts';
import type { CopyPorts } from '../copies/copy-task.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { EarlierLoads, LoadProgress } from './load-notes.ts';

export interface LoadPorts extends CopyPorts {
  readonly decide: FinishProposal;
}

export interface LoadTask {
  readonly active: ActiveRing;
  readonly partition: number;
  /** The move that brings the partition here; null for a holder that lost its records. */
  readonly move: Move | null;
  /**
   * The file here was complete when a ring took the partition away, so it may lack only a few
   * records.
   */
  readonly isReturning?: boolean;
  /** An operator has decided that the available records must do. */
  readonly isForced?: boolean;
  /** Absent in the first attempt. */
  readonly earlier?: EarlierLoads;
  readonly onProgress: (change: Partial<LoadProgress>) => void;
}
