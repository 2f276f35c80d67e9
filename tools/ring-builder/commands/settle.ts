// ring-builder settle: after a fork, tells every server that the history here is the right one.
import { CodedError } from '@ringwright/base/coded-error';
import { printTable } from '@ringwright/base/print-table';
import { appendPush } from '@ringwright/repository/append-push';
import { readVersion } from '@ringwright/repository/read-version';
import { text } from '../arguments.ts';
import { fanOut } from '../fan-out.ts';
import { deltasTo } from '../ring-deltas.ts';
import { ringTargets } from '../ring-targets.ts';
import { settleOn } from '../settle-fork.ts';
import { requirePushable } from '../signing.ts';
import { authorOf } from '../stage-verb.ts';
import type { Verb } from '../verb.ts';
import { trustToGive } from './push.ts';

export const verb: Verb = {
  options: {
    message: {
      alias: 'm',
      type: 'string',
      requiresArg: true,
      demandOption: true,
      describe: 'why this history is the right one, for the log and the servers',
    },
  },
  examples: [
    ['$0 settle cities -m "the other commit was never reviewed" --yes', 'servers drop data again'],
  ],
  run: async (args, context) => {
    const [ring, reason] = [text(args, 'ring'), text(args, 'message')];
    const version = await readVersion(context.rings, ring, 'head');
    const { id } = version;
    const head = { version: version.ring.version, id };
    if (!context.yes) {
      const taken = `version ${head.version} (${id.slice(0, 12)})`;
      const what = `every server of ${ring} would take ${taken}`;
      throw new CodedError('CONFIRMATION_NEEDED', `${what}, whatever line it is on`, {
        hint: `ring-builder servers ${ring} shows who has which; add --yes when this one is right`,
        details: { ring, ...head },
      });
    }
    await requirePushable(context, version);
    const trust = await trustToGive(context, version);
    const deltaFrom = deltasTo(context.rings, version);
    const given = { reason, trust, deltaFrom, nowMs: context.nowMs() };
    const targets = ringTargets(version.ring, version.state);
    const servers = await fanOut(targets, (target) => settleOn(version, target, given));
    const count = (wanted: string): number =>
      servers.filter(({ outcome }) => outcome === wanted).length;
    const [settled, quiet] = [count('settled'), count('quiet')];
    const details = { settled, quiet, servers: servers.length };
    const place = { rings: context.rings, ring };
    await appendPush(place, head, { ...authorOf(context), message: `settle: ${reason}`, details });
    return {
      json: { ring, ...head, settled, quiet, servers },
      lines: [
        `${ring} version ${head.version} (${id.slice(0, 12)}) is the right one: ` +
          `settled on ${settled} servers, ${quiet} knew of no fork`,
        ...printTable(servers, [
          { head: 'SERVER', cell: ({ address }) => address },
          { head: 'ANSWER', cell: ({ outcome }) => outcome },
          { head: 'WHY', cell: ({ message }) => message ?? '' },
        ]),
      ],
      next: context.next(`servers ${ring}`),
      exit: count('unreachable') > 0 ? 4 : count('refused') > 0 ? 5 : 0,
    };
  },
};
