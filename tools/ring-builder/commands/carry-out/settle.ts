// ring-builder settle: after a fork, tells every server that the history here is the right one.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { noteVersion } from '@ringwright/repository/append-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { text } from '../../cli/arguments.ts';
import { textOption } from '../../cli/option-forms.ts';
import type { Context, Verb } from '../../cli/verb.ts';
import { olderAdvice, serversAhead } from '../../health/servers-ahead.ts';
import { situationOf } from '../../health/situation-of.ts';
import { type AskedTarget, askTargets } from '../../servers/ask-targets.ts';
import { fanOut } from '../../servers/fan-out.ts';
import { asCommands } from '../../servers/gone-for-good.ts';
import { plightsOf } from '../../servers/push-to-targets.ts';
import { deltasTo } from '../../servers/ring-deltas.ts';
import { trustToGive } from '../../versions/sign-beacon.ts';
import { requirePushable } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-verb.ts';
import { adviceAfterFork } from './advice-after-fork.ts';
import { requireFindable } from './require-findable.ts';
import { type SettleOutcome, settleOn } from './settle-fork.ts';

const answers: Readonly<Record<SettleOutcome['outcome'], string>> = {
  settled: 'settled',
  quiet: 'has it, knew of no fork',
  refused: 'refused',
  unreachable: 'not reached',
};

export const verb: Verb = {
  options: {
    message: textOption('why this history is the right one, for the log and the servers', {
      alias: 'm',
      demandOption: true,
    }),
  },
  examples: [
    ['$0 settle cities -m "the other commit was never reviewed" --yes', 'servers drop data again'],
  ],
  run: async (args, context) => {
    const [ring, reason] = [text(args, 'ring'), text(args, 'message')];
    const version = await readVersion(context.rings, ring, 'head');
    const { id } = version;
    const head = { version: version.ring.version, id };
    const asked = await askTargets(version);
    await requireNoneAhead(context, version, asked);
    await requireFindable(version, asked);
    if (!context.yes) {
      const taken = `version ${head.version} (${id.slice(0, 12)})`;
      const have = asked.filter(({ said }) => !(said instanceof Error) && said.id === id).length;
      const what = `every server of ${ring} would take ${taken}`;
      const message = `${what}, which ${have} of ${asked.length} have now`;
      throw new CodedError('CONFIRMATION_NEEDED', message, {
        hint: `ring-builder servers ${ring} shows who has which; add --yes when this one is right`,
        details: { ring, ...head, have },
      });
    }
    await requirePushable(context, version);
    const trust = await trustToGive(context, version);
    const deltaFrom = deltasTo(context.rings, version);
    const given = { reason, trust, deltaFrom };
    const servers = await fanOut(asked, (target) => settleOn(version, target, given));
    const count = (wanted: string): number =>
      servers.filter(({ outcome }) => outcome === wanted).length;
    const [settled, quiet] = [count('settled'), count('quiet')];
    const taken = settled + quiet;
    const details = { settled, quiet, servers: servers.length };
    const place = { rings: context.rings, ring };
    const note = { ...authorOf(context), message: `settle: ${reason}`, details };
    if (taken > 0) await noteVersion(place, head, { ...note, kind: 'push', commands: [] });
    const plights = plightsOf(servers);
    const advice = adviceAfterFork(await situationOf(context, version), plights, reason);
    return {
      json: { ring, ...head, settled, quiet, servers },
      lines: [
        `${ring} version ${head.version} (${id.slice(0, 12)}): ` +
          (taken === 0
            ? `none of ${counted(servers.length, 'server')} took it`
            : `the right one for ${taken} of ${counted(servers.length, 'server')}; ` +
              `${settled} had a fork to settle, ${quiet} had none`),
        ...printTable(servers, [
          { head: 'SERVER', cell: ({ address }) => address },
          { head: 'ANSWER', cell: ({ outcome }) => answers[outcome] },
          { head: 'WHY', cell: ({ message }) => message ?? '' },
        ]),
        ...(advice === null ? [] : [advice.text]),
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
  targets: readonly AskedTarget[],
): Promise<void> {
  const ahead = serversAhead(version, targets);
  const older = await olderAdvice(context, version, ahead);
  if (older === null) return;
  const { keyspace } = version.ring;
  const highest = must(ahead[0], 'advice is about one at least').version;
  const missing = counted(highest - version.ring.version, 'version is', 'versions are');
  const first = version.ring.devices.find((device) => device !== null);
  const change = `set-device ${keyspace} d${first?.id ?? 0} --meta 'one more version'`;
  throw new CodedError('RING_OLDER', `${older.why}: none of them goes back`, {
    hint:
      `${older.text}; where the history here is right all the same, ${missing} missing: ` +
      'stage what does not matter and commit it, with another text each time, until it has a ' +
      `version ${highest} too, then settle: ` +
      asCommands([change, `commit ${keyspace} -m 'so that settle can win'`]),
    details: { ring: keyspace, version: version.ring.version, ahead },
  });
}
