// Copies the rows of children from the file of one of their parents on this device.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import {
  childRowsBytesMax,
  childRowsMax,
  childRunBytesMax,
  childWritesAhead,
} from '@ringwright/base/limits-copies';
import type { StoredRecord } from '@ringwright/partition/file/record';
import type { GivenRows } from '@ringwright/partition/parts/child-fills';
import type { LoadPorts } from './load-partition.ts';

export interface RowsToGive {
  readonly keyspace: string;
  readonly parent: number;
  readonly childOf: (key: Uint8Array) => number;
  /** Whether this pass fills the child. */
  readonly isFilled: (child: number) => boolean;
  /** After each write; throws where the pass is to end. */
  readonly onGiven: (child: number, more: GivenRows) => void;
}

interface ChildRow {
  readonly row: StoredRecord;
  readonly child: number;
  /** Its key, as text in the order of the bytes, which costs less to compare. */
  readonly name: string;
}

/**
 * Read in the order of the parent's file, written run by run in the order of their keys: then the
 * pages of a child's index are filled one after the other. In no order each row would write a page
 * of 4 KiB besides its own.
 */
export async function giveRows(ports: LoadPorts, rowsToGive: RowsToGive): Promise<void> {
  const { keyspace, parent, childOf, isFilled } = rowsToGive;
  const bounds = { rowsMax: childRowsMax, bytesMax: childRowsBytesMax };
  const writes = new WritesAhead(ports, rowsToGive);
  let run: ChildRow[] = [];
  let runBytes = 0;
  for (let since = 0; ; ) {
    const place = { keyspace, partition: parent };
    const page = ports.store.children.rowsOf(place, since, bounds);
    for (const row of page.rows) {
      const child = childOf(row.key);
      if (!isFilled(child)) continue;
      run.push({ row, child, name: row.key.toString('latin1') });
      runBytes += ROW_BYTES + bytesOf(row);
    }
    if (!page.more || runBytes >= childRunBytesMax) {
      await writes.add(run.sort((a, b) => (a.name < b.name ? -1 : 1)));
      [run, runBytes] = [[], 0];
    }
    if (!page.more) return writes.end();
    since = page.lastSeq;
    await setImmediate();
  }
}

/** The objects and the text of a row in a run. */
const ROW_BYTES = 400;

function bytesOf({ key, value }: StoredRecord): number {
  return key.length + (value?.length ?? 0);
}

/** Writes to children: while the disk takes one the next is got ready. */
class WritesAhead {
  readonly #ports: LoadPorts;
  readonly #rowsToGive: RowsToGive;
  readonly #underway: Promise<void>[] = [];

  constructor(ports: LoadPorts, rowsToGive: RowsToGive) {
    this.#ports = ports;
    this.#rowsToGive = rowsToGive;
  }

  async add(run: readonly ChildRow[]): Promise<void> {
    let rows: ChildRow[] = [];
    let bytes = 0;
    for (const one of run) {
      rows.push(one);
      bytes += bytesOf(one.row);
      if (rows.length < childRowsMax && bytes < childRowsBytesMax) continue;
      await this.#begin(rows, bytes);
      [rows, bytes] = [[], 0];
    }
    if (rows.length > 0) await this.#begin(rows, bytes);
  }

  /** Rejects with what made one of them fail. */
  async end(): Promise<void> {
    await Promise.all(this.#underway.splice(0));
  }

  async #begin(rows: readonly ChildRow[], bytes: number): Promise<void> {
    await this.#ports.throttle.pass(bytes);
    const written = this.#write(rows);
    written.catch(() => undefined); // told when it is waited for
    this.#underway.push(written);
    if (this.#underway.length > childWritesAhead) await this.#underway.shift();
    await setImmediate();
  }

  async #write(rows: readonly ChildRow[]): Promise<void> {
    const { keyspace, onGiven } = this.#rowsToGive;
    const outcomes = await this.#ports.store.write(
      rows.map(({ row, child }) => ({ ...row, keyspace, partition: child })),
    );
    // failpoint: fill.rows
    const given = new Map<number, GivenRows>();
    for (const [index, { row, child }] of rows.entries()) {
      const kind = outcomes[index]?.kind;
      if (kind === 'absent') {
        throw new CodedError('PARTITION_ABSENT', `partition ${child} went while it was filled`);
      }
      if (kind === 'promised') await this.#ports.decide(keyspace, row.key);
      const { rows: count, bytes } = given.get(child) ?? { rows: 0, bytes: 0 };
      given.set(child, { rows: count + 1, bytes: bytes + bytesOf(row) });
    }
    for (const [child, more] of given) onGiven(child, more);
  }
}
