// ring-builder trash: lists dropped partition files, restores one, and confirms drops that servers
// hold back.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { dutyKindOf } from '@ringwright/ring/duty-of';
import { isRetired } from '@ringwright/ring/reshape-ring';
import type { Ring } from '@ringwright/ring/ring';
import { type AnswerOf } from '@ringwright/wire/message';
import { trashList, trashRestore } from '@ringwright/wire/trash';
import { usage } from '../../cli/arguments.ts';
import { type Answer, type Command, type Context, listOption } from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { askTargets } from '../../servers/ask-servers.ts';
import { ringTargets, type Target, withFurther } from '../../servers/ring-targets.ts';
import { fanOut, withServer } from '../../servers/server-connection.ts';
import {
  type SilentServer,
  silentExit,
  silentLines,
  silentServer,
  unnamedServer,
} from '../../servers/silent-servers.ts';
import {
  confirmHeldDrops,
  type DropConfirmation,
  type HeldDrops,
  heldDrops,
  refusalLine,
} from './held-drops.ts';

const actions = ['list', 'restore', 'confirm'] as const;
/** --json lists all items. */
const ITEMS_SHOWN_MAX = 50;
const trashTimeoutMs = 20_000;

export const command: Command = {
  options: { to: listOption('more servers (IP:PORT), such as one that was removed') },
  positionals: {
    action: { choices: actions, describe: 'list (changes nothing), restore or confirm' },
    names: { array: true, describe: 'names of dropped files, from list' },
  },
  examples: [
    ['$0 trash cities list', 'what was dropped, on which device, and when'],
    [
      '$0 trash cities restore 1795240000000.cities.17.3f9c',
      'bring the file back; it then receives the records it lacks',
    ],
    ['$0 trash cities confirm', 'show drops that need confirmation; --yes confirms them'],
    ['$0 trash cities confirm --to 10.0.0.9:6200', 'also those of a server that was removed'],
  ],
  oldOrder: { second: 'action', isOld: (first, second) => isAction(first) && !isAction(second) },
  run: async (args, context) => {
    const head = await readVersion(context.rings, args.text('ring'), 'head');
    const action = args.text('action');
    const named = ringTargets(head.ring, head.state);
    const targets = withFurther(named, args.texts('to'));
    if (action === 'list') return list(context, head.ring, targets);
    if (action === 'confirm') return confirm(context, head.ring, targets);
    const names = args.texts('names');
    const { keyspace } = head.ring;
    if (names.length === 0) {
      throw usage('name the dropped files', `ring-builder trash ${keyspace} list shows them`);
    }
    return restore(context, await askTrash(head.ring, targets), { keyspace, names });
  },
};

function isAction(word: string): boolean {
  return actions.some((action) => action === word);
}

interface Item extends Readonly<AnswerOf<typeof trashList>['items'][number]> {
  readonly address: string;
  /** False: the partition was split, merged or retired, and no server takes the file back. */
  readonly restorable: boolean;
  /** The ring gives the partition to this server again. If it has a file, none is restored. */
  readonly isBack: boolean;
}

interface Trash {
  readonly items: readonly Item[];
  readonly count: number;
  readonly bytes: number;
  readonly away: readonly SilentServer[];
  /** The number of servers that answered. */
  readonly answered: number;
}

/** Returns the dropped files of all servers, newest first. */
async function askTrash(ring: Ring, targets: readonly Target[]): Promise<Trash> {
  const items: Item[] = [];
  const away: SilentServer[] = [];
  const isGone = isRetired(ring);
  let [count, bytes, answered] = [0, 0, 0];
  await fanOut(targets, async ({ address, devices, required }) => {
    const request = { keyspace: ring.keyspace };
    const answer = await resultOrError(
      withServer(address, (server) => server.call(trashList, request, trashTimeoutMs)),
    );
    if (answer instanceof CodedError) {
      if (required) away.push(silentServer(address, answer));
      return;
    }
    for (const item of answer.items) {
      const restorable = item.partition < ring.partitions && !isGone(item.partition);
      const isBack =
        restorable && devices.some((id) => dutyKindOf(ring, item.partition, id) !== 'UNLOAD');
      items.push({ ...item, address, restorable, isBack });
    }
    answered += 1;
    count += answer.count;
    bytes += answer.bytes;
  });
  return { items: items.sort((a, b) => b.atMs - a.atMs), count, bytes, away, answered };
}

async function list(context: Context, ring: Ring, targets: readonly Target[]): Promise<Answer> {
  const { items, count, bytes, away, answered } = await askTrash(ring, targets);
  const { keyspace } = ring;
  const shown = items.slice(0, ITEMS_SHOWN_MAX);
  const isRestorable = items.some(({ restorable, isBack }) => restorable && !isBack);
  return {
    json: { ring: keyspace, count, bytes, items, away },
    lines: [
      answered === 0 && away.length > 0
        ? `${keyspace}: no server answered, so dropped files are unknown`
        : `${keyspace}: ${counted(count, 'dropped file')}, ${printBytes(bytes)}`,
      ...silentLines(away),
      ...(shown.length === 0 ? [] : ['', ...itemsTable(shown)]),
      count > shown.length && `… ${count} in all`,
      ...(shown.every(({ restorable }) => restorable)
        ? []
        : ['', 'gone: the partition was split, merged or retired; its files cannot come back']),
      ...(isRestorable
        ? ['', `${context.next(`trash ${keyspace} restore NAME`)} brings one back`]
        : []),
    ],
    // Not `restore`: most files were dropped rightly, after a move.
    next: context.next(`reconcile ${keyspace}`),
    exit: silentExit(away),
  };
}

function itemsTable(items: readonly Item[]): string[] {
  return printTable(items, [
    {
      head: 'PARTITION',
      cell: ({ partition, restorable }) => `${partition}${restorable ? '' : ' gone'}`,
    },
    { head: 'SERVER', cell: ({ address }) => address },
    { head: 'DROPPED', cell: ({ atMs }) => `${new Date(atMs).toISOString().slice(0, 19)}Z` },
    { head: 'BYTES', cell: ({ bytes }) => printBytes(bytes) },
    { head: 'NAME', cell: ({ name }) => name },
  ]);
}

/** Names are unique, because they contain the incarnation of the file. */
async function restore(
  context: Context,
  { items }: Trash,
  { keyspace, names }: { readonly keyspace: string; readonly names: readonly string[] },
): Promise<Answer> {
  const chosen = names.map((name) => items.find((item) => item.name === name) ?? name);
  const unknown = chosen.filter((one) => typeof one === 'string');
  if (unknown.length > 0) {
    throw new CodedError('TRASH_UNKNOWN', `no server has a dropped file ${unknown.join(', ')}`, {
      hint: `ring-builder trash ${keyspace} list`,
    });
  }
  const found = chosen.filter((one) => typeof one !== 'string');
  const restored = await fanOut(found, async ({ address, name }) => {
    const answer = await withServer(address, (server) =>
      server.call(trashRestore, { keyspace, name }, trashTimeoutMs),
    );
    return { address, name, ...answer };
  });
  return {
    json: { ring: keyspace, restored, changed: true },
    lines: restored.map(
      ({ address, partition, rows, duty }) =>
        `partition ${partition} is back on ${address} with ${counted(rows, 'row')}: ${dutyTexts[duty]}`,
    ),
    next: context.next(`reconcile ${keyspace}`),
  };
}

const dutyTexts: Readonly<Record<AnswerOf<typeof trashRestore>['duty'], string>> = {
  SERVE: 'it refills from its peers, then serves',
  LOAD: 'a move is bringing the partition here anyway',
  UNLOAD: 'its records are offered to the holders, then the file is dropped again',
};

/**
 * Throws CONFIRMATION_NEEDED with the held drops unless --yes is set. Skips servers that run under
 * another device name than the ring has: the files that they would drop are those of its devices.
 */
async function confirm(
  context: Context,
  { keyspace }: Ring,
  targets: readonly Target[],
): Promise<Answer> {
  const servers = await askTargets(keyspace, targets);
  const away = servers.flatMap(({ address, devices, required, ringStatus }) => {
    if (!required) return [];
    if (ringStatus instanceof Error) return [silentServer(address, ringStatus)];
    return devices.length > 0 && ringStatus.device === null ? [unnamedServer(address)] : [];
  });
  const held = heldDrops(servers).filter((one) =>
    away.every(({ address }) => address !== one.address),
  );
  const files = filesOf(held);
  const lines = held.map(
    ({ address, drops, quarantines, why }) =>
      `${address} holds back ${counted(drops, 'drop')} and ${counted(quarantines, 'quarantine')}` +
      (why === '' ? '' : `: ${why}`),
  );
  if (held.length > 0 && !context.yes) {
    throw new CodedError(
      'CONFIRMATION_NEEDED',
      `${counted(files, 'file')} of ${keyspace} would be moved to the trash: ${lines.join('; ')}`,
      {
        hint: context.next(`trash ${keyspace} confirm ${further(targets)}--yes`),
        details: { ring: keyspace, held },
      },
    );
  }
  const outcomes: readonly DropConfirmation[] = await confirmHeldDrops(held, keyspace);
  const refused = outcomes.filter(({ refusal }) => refusal !== '');
  const droppedCount = filesOf(outcomes.filter(({ refusal }) => refusal === ''));
  const someAway = refused.some(({ outcome }) => outcome === 'unreachable');
  return {
    json: {
      ring: keyspace,
      files,
      servers: outcomes,
      away,
      changed: outcomes.length > refused.length,
    },
    lines: [
      held.length === 0
        ? `${keyspace}: no drop needs confirmation${away.length > 0 ? ' on the servers that answered' : ''}`
        : `${counted(droppedCount, 'file')} may be dropped`,
      ...refused.map(refusalLine),
      ...silentLines(away),
    ],
    next: context.next(`${confirmedNext(droppedCount, away)} ${keyspace}`),
    exit: silentExit(away) || (someAway ? 4 : refused.length > 0 ? 5 : 0),
  };
}

function confirmedNext(dropped: number, away: readonly SilentServer[]): string {
  if (dropped > 0) return 'rollout';
  return away.length > 0 ? 'servers' : 'status';
}

function filesOf(held: readonly HeldDrops[]): number {
  return held.reduce((sum, { drops, quarantines }) => sum + drops + quarantines, 0);
}

/** Returns the --to options to type again. */
function further(targets: readonly Target[]): string {
  const unnamed = targets.filter(({ devices }) => devices.length === 0);
  return unnamed.map(({ address }) => `--to ${address} `).join('');
}
