// ring-builder settle: after a fork, tells every server that the history here is the right one.
import { must } from '@ringwright/base/assert';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { ringActivationMsMax } from '@ringwright/base/limits-rings';
import { printTable } from '@ringwright/base/print-table';
import { noteVersion } from '@ringwright/repository/append-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import type { Caller } from '@ringwright/wire/call-channel';
import { ringSettle } from '@ringwright/wire/rings';
import { sendRing } from '@ringwright/wire/send-ring';
import { type Command, type Context, textOption } from '../../cli/command.ts';
import { adviceContextOf } from '../../health/advice-context.ts';
import { olderAdvice, serversAhead } from '../../health/servers-ahead.ts';
import { askTargets, type TargetStatus } from '../../servers/ask-servers.ts';
import { failureOf, offerTrust, type TrustDocuments } from '../../servers/give-trust.ts';
import { asCommands } from '../../servers/gone-for-good.ts';
import {
  type DeltaFrom,
  deltasTo,
  type PushOutcome,
  serverFailuresOf,
} from '../../servers/push-to-targets.ts';
import { ringTargets, type Target } from '../../servers/ring-targets.ts';
import { fanOut, withServer } from '../../servers/server-connection.ts';
import { trustToGive } from '../../versions/sign-beacon.ts';
import { requirePushable } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-command.ts';
import { adviceAfterFork } from './advice-after-fork.ts';
import { requireSameKeyMapping } from './require-findable.ts';

const answers: Readonly<Record<SettleOutcome['outcome'], string>> = {
  settled: 'settled',
  quiet: 'has it, knew no fork',
  refused: 'refused',
  unreachable: 'not reached',
};

export const command: Command = {
  options: {
    message: textOption('why this history is the right one, for the log and the servers', {
      alias: 'm',
      demandOption: true,
    }),
  },
  examples: [
    [
      '$0 settle cities -m "the other commit was never reviewed" --yes',
      'end the fork; servers drop files again',
    ],
  ],
  run: async (args, context) => {
    const [ring, reason] = [args.text('ring'), args.text('message')];
    const version = await readVersion(context.rings, ring, 'head');
    const { id } = version;
    const head = { version: version.ring.version, id };
    const targets = await askTargets(ring, ringTargets(version.ring, version.state));
    await requireNoneAhead(context, version, targets);
    await requireSameKeyMapping(version, targets);
    if (!context.yes) {
      const versionText = `version ${head.version} (${id.slice(0, 12)})`;
      const have = targets.filter(
        ({ ringStatus }) => !(ringStatus instanceof Error) && ringStatus.id === id,
      ).length;
      const what = `every server of ${ring} would take ${versionText}`;
      const message = `${what}; ${have} of ${targets.length} have it now`;
      throw new CodedError('CONFIRMATION_NEEDED', message, {
        hint: `ring-builder servers ${ring} shows which server has which version; add --yes if this one is right`,
        details: { ring, ...head, have },
      });
    }
    await requirePushable(context, version);
    const trust = await trustToGive(context, version);
    const deltaFrom = deltasTo(context.rings, version);
    const settings = { reason, trust, deltaFrom };
    const servers = await fanOut(targets, (target) => settleOn(version, target, settings));
    const count = (expected: string): number =>
      servers.filter(({ outcome }) => outcome === expected).length;
    const [settled, quiet] = [count('settled'), count('quiet')];
    const taken = settled + quiet;
    const details = { settled, quiet, servers: servers.length };
    const place = { rings: context.rings, ring };
    const note = { ...authorOf(context), message: `settle: ${reason}`, details };
    if (taken > 0) await noteVersion(place, head, { ...note, kind: 'push', commands: [] });
    const failures = serverFailuresOf(servers);
    const advice = adviceAfterFork(await adviceContextOf(context, version), failures, reason);
    return {
      json: { ring, ...head, settled, quiet, servers },
      lines: [
        `${ring} version ${head.version} (${id.slice(0, 12)}): ` +
          (taken === 0
            ? `none of ${counted(servers.length, 'server')} took it`
            : `accepted as the right one by ${taken} of ${counted(servers.length, 'server')}; ` +
              `${settled} had a fork to settle, ${quiet} had none`),
        ...printTable(servers, [
          { head: 'SERVER', cell: ({ address }) => address },
          { head: 'ANSWER', cell: ({ outcome }) => answers[outcome] },
          { head: 'WHY', cell: ({ message }) => message ?? '' },
        ]),
        advice?.text,
      ],
      next: context.next(advice?.command ?? `servers ${ring}`),
      exit: count('unreachable') > 0 ? 4 : count('refused') > 0 ? 5 : 0,
    };
  },
};

/**
 * Throws RING_OLDER if a server is ahead: it would clear its alarm, refuse the ring, and raise the
 * alarm of the others again.
 */
async function requireNoneAhead(
  context: Context,
  version: StoredVersion,
  targets: readonly TargetStatus[],
): Promise<void> {
  const ahead = serversAhead(version, targets);
  const older = await olderAdvice(context, version, ahead);
  if (older === null) return;
  const { keyspace } = version.ring;
  const highest = must(ahead[0], 'advice is about one at least').version;
  const missing = counted(highest - version.ring.version, 'version is', 'versions are');
  throw new CodedError('RING_OLDER', `${older.why}: servers never go back to a lower version`, {
    hint:
      `${older.text}; if the history here is still the right one, ${missing} missing: ` +
      versionsUntil(highest, version.ring),
    details: { ring: keyspace, version: version.ring.version, ahead },
  });
}

/** Nothing can be committed beside a split or merge in flight, but its cancellation is a version. */
function versionsUntil(highest: number, { keyspace, devices, reshape }: Ring): string {
  if (reshape?.kind === 'to') {
    const cancel = asCommands([`moves ${keyspace} cancel all`]);
    return `the first cancels the split or merge in flight, then settle: ${cancel}`;
  }
  const first = devices.find((device) => device !== null);
  const change = `set-device ${keyspace} d${first?.id ?? 0} --meta 'one more version'`;
  const commands = asCommands([change, `commit ${keyspace} -m 'so that settle can win'`]);
  return (
    'stage and commit harmless changes, each time with another text, until there is a ' +
    `version ${highest} too, then settle: ${commands}`
  );
}

interface SettleWith {
  readonly reason: string;
  readonly trust: TrustDocuments | null;
  readonly deltaFrom: DeltaFrom;
}

interface SettleOutcome extends Target, Pick<PushOutcome, 'code' | 'message'> {
  /**
   * settled: the fork alarm is cleared. quiet: there was none. Either way the version is active.
   */
  readonly outcome: 'settled' | 'quiet' | 'refused' | 'unreachable';
}

/** Safe to repeat. A server that has not noticed the fork notices it when it receives the ring. */
async function settleOn(
  version: StoredVersion,
  { address, devices, required }: Target,
  settings: SettleWith,
): Promise<SettleOutcome> {
  const settled = await resultOrError(
    withServer(address, (server) => settleAndSend(server, version, settings)),
  );
  if (settled instanceof CodedError) return { address, devices, required, ...failureOf(settled) };
  return { address, devices, required, outcome: settled ? 'settled' : 'quiet' };
}

async function settleAndSend(
  server: Caller,
  { ring, id, bytes }: StoredVersion,
  { reason, trust, deltaFrom }: SettleWith,
): Promise<boolean> {
  const head = { keyspace: ring.keyspace, version: ring.version, id };
  const sent = { ...head, bytes, deltaFrom, timeoutMs: ringActivationMsMax };
  if (trust !== null) await offerTrust(server, trust);
  const settle = (): Promise<boolean> =>
    server.call(ringSettle, { ...head, reason }, ringActivationMsMax).then(
      () => true,
      (error: unknown) => {
        if (error instanceof CodedError && error.code === 'RING_FORK_UNKNOWN') return false;
        throw error;
      },
    );
  if (await settle()) {
    await sendRing(server, sent);
    return true;
  }
  try {
    await sendRing(server, sent);
    return false;
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== 'RING_FORK') throw error;
  }
  const settled = await settle();
  await sendRing(server, sent);
  return settled;
}
