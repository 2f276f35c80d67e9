// ring-builder beacon: tells every server, signed and for a limited time, which version is the
// newest.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { accessToGive } from '@ringwright/repository/folder/access-file';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { requireTrust } from '@ringwright/repository/folder/trust-file';
import { type Command, textOption } from '../../cli/command.ts';
import { numberRanges } from '../../cli/number-ranges.ts';
import { olderAdvice, serversAhead } from '../../health/servers-ahead.ts';
import { askTargets } from '../../servers/ask-servers.ts';
import { giveTrust, notGiven } from '../../servers/give-trust.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { beaconMinutes, makeBeacon } from '../../versions/sign-beacon.ts';

export const command: Command = {
  options: {
    minutes: textOption(
      `lifetime in minutes (default ${beaconMinutes}, at most ${numberRanges.minutes.most})`,
    ),
  },
  examples: [
    [
      '$0 beacon cities',
      'run it from cron every five minutes, to detect servers that do not get new versions',
    ],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const minutes = args.optionalNumber('minutes') ?? beaconMinutes;
    const { trust, bytes } = await requireTrust(context.rings);
    const version = await readVersion(context.rings, ring, 'head');
    const beacon = await makeBeacon(context, trust, { version, minutes });
    if (beacon === null) {
      const message = `no private key for a beacon key of root ${trust.root.version} is here`;
      throw new CodedError('SIGNING_KEY_UNKNOWN', message, {
        hint: 'ring-builder key list shows the keys; --key-folder DIR selects the folder',
      });
    }
    const targets = ringTargets(version.ring, version.state);
    const access = await accessToGive(context.rings, trust);
    const documents = { roots: bytes, beacons: [beacon], access };
    const [servers, targetStatuses] = await Promise.all([
      giveTrust(targets, documents),
      askTargets(ring, targets),
    ]);
    const ahead = serversAhead(version, targetStatuses);
    const older = await olderAdvice(context, version, ahead);
    const missed = notGiven(servers);
    return {
      json: { ring, version: version.ring.version, id: version.id, minutes, servers, ahead },
      lines: [
        `${ring} version ${version.ring.version} is the newest ` +
          `for ${counted(minutes, 'minute')}: ` +
          `${servers.length - missed.count} ` +
          `of ${counted(servers.length, 'server')} notified`,
        ...missed.table,
        older !== null && `${older.why}: ${older.text}`,
      ],
      next: context.next(older?.command ?? `servers ${ring}`),
      exit: missed.exit,
    };
  },
};
