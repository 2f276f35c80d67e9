// McNaughton's wrap-around in blocks: deals partitions to the children of a node, well mixed. Pure.

import type { Random } from '@ringwright/base/random';
import { shuffle } from './shuffle.ts';

/** Partitions per block: large enough to be cheap, small enough to mix the children. */
const BLOCK = 128;

/** Partitions that need `few` + 1 replicas below a node, and those that need `few`. */
export interface Classes {
  readonly more: Int32Array;
  readonly less: Int32Array;
  readonly few: number;
}

interface Child {
  readonly few: number;
  readonly more: Int32Array;
  readonly less: Int32Array;
  moreCount: number;
  lessCount: number;
  left: number;
}

/**
 * Returns by child the partitions that it gets. `quotas` add up to the replicas of the classes,
 * whose `few` is at least 1. A child gets each partition floor or ceil of (quota / partitions)
 * times.
 */
export function wrapAround(quotas: readonly number[], classes: Classes, random: Random): Classes[] {
  const total = classes.more.length + classes.less.length;
  const children = quotas.map((quota): Child => {
    const few = Math.floor(quota / total);
    const more = new Int32Array(quota - few * total);
    const less = new Int32Array(few === 0 ? 0 : total - more.length);
    return { few, more, less, moreCount: 0, lessCount: 0, left: quota };
  });
  const more = shuffle(classes.more.slice(), random);
  const less = shuffle(classes.less.slice(), random);
  const block = new Int32Array(BLOCK);
  const order = Int32Array.from(children.keys());
  let moreLeft = more.length;
  for (let left = total; left > 0; ) {
    const size = Math.min(BLOCK, left);
    const moreHere = Math.floor((moreLeft * size) / left);
    const lessLeft = left - moreLeft;
    block.set(more.subarray(more.length - moreLeft, more.length - moreLeft + moreHere));
    block.set(
      less.subarray(less.length - lessLeft, less.length - lessLeft + size - moreHere),
      moreHere,
    );
    shuffle(order, random);
    fillBlock(children, order, { block, size, left, slots: classes.few * size + moreHere });
    left -= size;
    moreLeft -= moreHere;
  }
  return children.map(({ few, more: often, less: seldom }) => ({ few, more: often, less: seldom }));
}

interface Block {
  readonly block: Int32Array;
  readonly size: number;
  /** Partitions not yet dealt, including this block. */
  readonly left: number;
  readonly slots: number;
}

/** Gives each child its fraction of its quota, rounded so that the block's slots add up. */
function fillBlock(children: readonly Child[], order: Int32Array, block: Block): void {
  const { size, left } = block;
  let extra = block.slots;
  for (const child of children) extra -= Math.floor((child.left * size) / left);
  let at = 0;
  for (const index of order) {
    const child = children[index]!;
    let take = Math.floor((child.left * size) / left);
    if (extra > 0 && (child.left * size) % left !== 0) {
      take += 1;
      extra -= 1;
    }
    child.left -= take;
    giveRun(child, block, { at, take });
    at = (at + take) % size;
  }
}

/** Gives the child the slots [at, at + take) around the block, every partition once per turn. */
function giveRun(child: Child, block: Block, run: { at: number; take: number }): void {
  const { size } = block;
  const turns = Math.floor(run.take / size);
  const rest = run.take - turns * size;
  for (let i = 0; i < size; i += 1) {
    const partition = block.block[(run.at + i) % size]!;
    const times = turns + (i < rest ? 1 : 0);
    if (times > child.few) {
      child.more[child.moreCount] = partition;
      child.moreCount += 1;
    } else if (child.few > 0) {
      child.less[child.lessCount] = partition;
      child.lessCount += 1;
    }
  }
}
