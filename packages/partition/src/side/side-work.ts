// What a store asks its side process, and what that answers. Pure data.
import type { Failure } from '@ringwright/base/disk-error';
import type { FileOwner } from '../audit/own-file.ts';
import type { ChildrenToBuild, FilesToMerge } from './build-children.ts';
import type { PagesToCopy } from './copy-file.ts';
import type { FileToMake } from './make-file.ts';

export type SideWork =
  | { readonly kind: 'audit'; readonly file: string; readonly owner: FileOwner | null }
  | { readonly kind: 'copy'; readonly from: string; readonly to: string }
  | ({ readonly kind: 'copy-pages' } & PagesToCopy)
  | { readonly kind: 'make'; readonly files: readonly FileToMake[] }
  | ({ readonly kind: 'build' } & ChildrenToBuild)
  | ({ readonly kind: 'merge' } & FilesToMerge);

export type SideRequest =
  | { readonly kind: 'work'; readonly id: number; readonly work: SideWork }
  /** Not answered: prepares for audits. */
  | { readonly kind: 'prepare' };

/** A message of the program about one job. */
export interface SideMessage {
  readonly id: number;
  readonly answer: SideAnswer;
}

export type SideAnswer =
  /** The job only waits for the disk; its answer follows, and the next job may begin meanwhile. */
  | { readonly kind: 'waits' }
  /** `result`: what the method of SideProcess resolves to that asks for this kind of work. */
  | { readonly kind: 'done'; readonly result: unknown }
  | ({ readonly kind: 'failed' } & Failure);
