// ring-builder certs: manages an authority, and one bundle (key and certificate) for each server.
import { X509Certificate } from 'node:crypto';
import { isIP, SocketAddress } from 'node:net';
import { join } from 'node:path';
import { counted } from '@ringwright/base/counted';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { certificateWarnDays } from '@ringwright/base/limits-commands';
import { printTable } from '@ringwright/base/print-table';
import { quoteCommand } from '@ringwright/base/quote-command';
import { stagedState } from '@ringwright/repository/folder/builder-file';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { openRing } from '@ringwright/repository/open-ring';
import { namesOf } from '../../certs/certificate.ts';
import { authorityNameOf, openCerts } from '../../certs/certs-folder.ts';
import { type Arguments, usage } from '../../cli/arguments.ts';
import {
  type Answer,
  type Command,
  type Context,
  listOption,
  textOption,
} from '../../cli/command.ts';
import { initAnswer, issueAnswer } from './certs-issue.ts';
import { rotateAnswer, rotateAuthorityAnswer } from './certs-rotate.ts';

export const command: Command = {
  positionals: {
    action: {
      describe: 'init, issue, list or rotate',
      choices: ['init', 'issue', 'list', 'rotate'],
    },
    names: { describe: 'init, issue: IP addresses and host names; rotate: bundles or authority' },
  },
  options: {
    certs: textOption('folder of the certificates (default: certs, next to the folder of rings)'),
    name: textOption('issue: name of the bundle (default: the first address)'),
    role: listOption('issue: make a client certificate with this role: read:cities/eu, operator …'),
    days: textOption('issue, rotate: lifetime in days (default 365)'),
    step: textOption('rotate authority: 1, 2 or 3', { choices: ['1', '2', '3'] }),
  },
  examples: [
    ['$0 certs init 10.0.0.1 10.0.0.2', 'certs/authority.pem and a bundle for each address'],
    ['$0 certs issue 10.0.0.3 db3.example --name db3', 'certs/db3.pem, for ring-server --tls'],
    [
      '$0 certs issue ada --role operator --role metrics',
      'certs/ada.pem, for ring-builder --client-cert',
    ],
    ['$0 certs list', 'expiry of each; exit code 1 if one expires within 30 days'],
    ['$0 certs rotate db3', 'the same names with a new key'],
    ['$0 certs rotate authority --step 1', 'a second authority next to the first one'],
  ],
  about:
    'No server or network is needed. The key of the authority is stored with the\n' +
    'signing keys (--key-folder), under a passphrase: --passphrase-file FILE or\n' +
    'RING_BUILDER_PASSPHRASE for scripts. Keys are Ed25519. Clients need authority.pem:\n' +
    'ring-builder --ca, curl --cacert, connect(…, { ca }). Certificates that others made\n' +
    'also work: ring-server --tls accepts any PEM file with a key and its certificates.',
  run: async (args, context) => {
    const names = args.texts('names');
    const action = args.text('action');
    if (action === 'init') return initAnswer(args, context, names);
    if (action === 'issue') return issueAnswer(args, context, names);
    if (action === 'rotate') {
      const isAuthority = names.length === 1 && names[0] === 'authority';
      if (isAuthority) return rotateAuthorityAnswer(args, context);
      return rotateAnswer(args, context, names);
    }
    if (names.length > 0) throw usage(`certs list takes no names, not ${names.join(' ')}`);
    return listAnswer(args, context);
  },
};

async function listAnswer(args: Arguments, context: Context): Promise<Answer> {
  const { folder, authorities, bundles } = await openCerts(args, context);
  const inUse = await hostsInRings(context.rings);
  const nowMs = context.nowMs();
  const soonMs = nowMs + certificateWarnDays * 86_400_000;
  const all = [...authorities.map((cert) => [authorityNameOf(cert), cert] as const), ...bundles];
  const rows = all.map(([name, cert]) => {
    const { validFromDate, validToDate, issuer } = new X509Certificate(cert);
    const [startsMs, endsMs] = [validFromDate.getTime(), validToDate.getTime()];
    const names = namesOf(cert).map(({ value }) => value);
    const inRing = bundles.has(name) ? isInRing(names, inUse) : null;
    const endsSoon = endsMs <= soonMs;
    const times = { startsMs, endsMs, endsSoon };
    return { name, names, issuer: issuer.replace(/^CN=/, ''), ...times, inRing };
  });
  const gone = rows.filter(({ inRing }) => inRing === false).map(({ name }) => name);
  const unfit = rows.find(({ startsMs, endsSoon }) => endsSoon || startsMs > nowMs);
  const step = unfit?.name.startsWith('authority-') ? 'authority --step 1' : unfit?.name;
  const hosts = inUse.size > 0 ? [...inUse].sort() : ['10.0.0.1'];
  const after = rows.length === 0 ? quoteCommand(['init', ...hosts]) : 'issue 10.0.0.1';
  return {
    json: { folder, certificates: rows },
    lines: [
      rows.length === 0 && `no certificate is in ${folder}: --certs DIR selects another folder`,
      ...printTable(rows, [
        { head: 'NAME', cell: ({ name }) => name },
        { head: 'FOR', cell: ({ names }) => names.join(', ') },
        { head: 'ISSUED BY', cell: ({ issuer }) => issuer },
        { head: 'UNTIL', cell: (row) => untilText(row, nowMs) },
      ]),
      gone.length > 0 && goneText(context.rings, folder, gone),
    ],
    next: context.next(
      step === undefined && bundles.size > 0
        ? 'health'
        : `certs ${step === undefined ? after : `rotate ${step}`}`,
    ),
    ...(unfit !== undefined && { exit: 1 }),
  };
}

interface Times {
  readonly startsMs: number;
  readonly endsMs: number;
  readonly endsSoon: boolean;
}

/** A clock that was ahead when the certificate was made leaves one that is not valid yet. */
function untilText({ startsMs, endsMs, endsSoon }: Times, nowMs: number): string {
  const [start, end] = [startsMs, endsMs].map((ms) => new Date(ms).toISOString());
  if (startsMs > nowMs) return `${end}, but not before ${start}: rotate it, or correct the clock`;
  return `${end}${endsSoon ? ', rotate it' : ''}`;
}

function goneText(rings: string, folder: string, gone: readonly string[]): string {
  const files = quoteCommand(gone.map((name) => join(folder, `${name}.pem`)));
  const which = counted(gone.length, 'bundle is', 'bundles are');
  return `${which} of servers that no ring of ${rings} names: ${gone.join(', ')}; if they are gone for good: rm ${files}`;
}

/** Returns the hosts of all devices, staged ones included; an empty set if a ring is unreadable. */
async function hostsInRings(rings: string): Promise<ReadonlySet<string>> {
  const hosts = new Set<string>();
  try {
    for (const name of await listRings(rings)) {
      for (const device of stagedState(await openRing(rings, name)).devices) {
        if (device === null) continue;
        hosts.add(plainHost(device.ip));
        if (device.replication !== undefined) hosts.add(plainHost(device.replication.ip));
      }
    }
  } catch (error) {
    codedOrDisk(error);
    return new Set();
  }
  return hosts;
}

/**
 * Returns null where it is unknown: client certificates have no address, and without any known host
 * the rings may not exist yet.
 */
function isInRing(names: readonly string[], hosts: ReadonlySet<string>): boolean | null {
  if (hosts.size === 0 || names.every((name) => isIP(name) === 0)) return null;
  return names.some((name) => hosts.has(plainHost(name)));
}

/** Returns one spelling of a host. An IPv6 address has many. */
function plainHost(host: string): string {
  const [address = ''] = host.split('%');
  if (isIP(address) !== 6) return address.toLowerCase();
  return new SocketAddress({ address, family: 'ipv6' }).address;
}
