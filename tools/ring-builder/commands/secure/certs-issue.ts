// ring-builder certs init and issue: make an authority, and bundles for the addresses of servers.
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { grantOfWord, grantUri } from '@ringwright/access/grant';
import { CodedError } from '@ringwright/base/coded-error';
import { certificateLifeDays } from '@ringwright/base/limits-commands';
import { type Authority, issueCertificate, type Names } from '../../certs/certificate.ts';
import {
  authorityPath,
  newAuthority,
  openAuthority,
  openCerts,
  writeAuthorities,
  writeBundle,
} from '../../certs/certs-folder.ts';
import { type Arguments, usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/command.ts';

/**
 * Makes an authority and a bundle for each address. Whatever an interrupted run has made is kept.
 */
export async function initAnswer(
  args: Arguments,
  context: Context,
  addresses: readonly string[],
): Promise<Answer> {
  const certs = await openCerts(args, context);
  if (addresses.length === 0) throw usage('no servers named: certs init 10.0.0.1 10.0.0.2');
  const bundles = addresses.map((one) => ({ name: bundleName(one), names: namesFor([one]) }));
  const isNew = certs.authorities.length === 0;
  const authority = isNew ? await newAuthority(1, context) : await openAuthority(certs, context);
  if (isNew) await writeAuthorities(certs.folder, [authority.cert]);
  const files: string[] = [];
  for (const { name, names } of bundles) {
    if (certs.bundles.has(name)) continue;
    const leaf = { name, names, days: lifeDays(args), nowMs: context.nowMs() };
    files.push(await writeBundle(certs.folder, name, await issueCertificate(authority, leaf)));
  }
  const path = authorityPath(certs.folder);
  const isShort = files.length > 0 && shortLife(authority, args, context);
  return {
    json: { authority: path, bundles: files, changed: isNew || files.length > 0 },
    lines: [
      `${path} is for clients: ring-builder --ca, curl --cacert, connect(…, { ca })`,
      ...files.map((file) => `${file} is only for its server: ring-server --tls ${file}`),
      isShort,
    ],
    next: context.next('certs list'),
  };
}

export async function issueAnswer(
  args: Arguments,
  context: Context,
  addresses: readonly string[],
): Promise<Answer> {
  const [first] = addresses;
  if (first === undefined) throw usage('no addresses named: certs issue 10.0.0.3 db3.example');
  const roles = args.texts('role');
  if (roles.length > 0 && addresses.length > 1) throw usage('a client has one name');
  const names = roles.length > 0 ? roles.map(roleName) : namesFor(addresses);
  const name = bundleName(args.optionalText('name') ?? first);
  const certs = await openCerts(args, context);
  if (certs.bundles.has(name)) {
    throw usage(
      `${certs.folder} already has a bundle ${name}`,
      `certs rotate ${name}, or another --name`,
    );
  }
  const authority = await openAuthority(certs, context);
  const leaf = { name, names, days: lifeDays(args), nowMs: context.nowMs() };
  const file = await writeBundle(certs.folder, name, await issueCertificate(authority, leaf));
  return {
    json: { name, file, names: names.map(({ value }) => value), changed: true },
    lines: [
      roles.length === 0
        ? `${file} is only for its server: ring-server --tls ${file}`
        : `${file} is only for ${first}: ring-builder --client-cert ${file}; ` +
          `servers accept it if started with ring-server --client-ca ${authorityPath(certs.folder)}`,
      shortLife(authority, args, context),
    ],
    next: context.next('certs list'),
  };
}

/** Returns the name for a role such as `read:notes/user:` or `operator`. */
function roleName(word: string): Names[number] {
  const grant = grantOfWord(word);
  if (grant !== null) return { type: 'url', value: grantUri(grant) };
  throw usage(
    `--role ${word}: expected read:RING[/PREFIX], write:RING[/PREFIX], operator, metrics or peer`,
  );
}

export function lifeDays(args: Arguments): number {
  return args.optionalNumber('days') ?? certificateLifeDays;
}

/** A certificate ends with its authority. Returns a line if that is before the wanted time. */
export function shortLife(
  { cert }: Pick<Authority, 'cert'>,
  args: Arguments,
  context: Context,
): string | false {
  const { validToDate: end } = new X509Certificate(cert);
  const days = lifeDays(args);
  return (
    end.getTime() < context.nowMs() + days * 86_400_000 &&
    `valid until ${end.toISOString().slice(0, 10)}, when the authority ends, and not for ` +
      `${days} days: ring-builder certs rotate authority --step 1 creates the next authority`
  );
}

function namesFor(addresses: readonly string[]): Names {
  return addresses.map((value) => {
    if (isIP(value) !== 0) return { type: 'ip', value: plainAddress(value) };
    const name = dnsName(value);
    if (/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(name)) return { type: 'dns', value: name };
    throw usage(
      `${JSON.stringify(value)} is neither an IP address nor a host name`,
      'without the port',
    );
  });
}

/**
 * Returns an IP address as the library of certificates reads it: IPv6 without an IPv4 part, and
 * without a zone, which no certificate can have.
 */
function plainAddress(typed: string): string {
  if (isIP(typed) === 4) return typed;
  return new URL(`http://[${typed.replace(/%.*/, '')}]`).hostname.slice(1, -1);
}

/** Returns a host name as certificates have it: in ASCII (RFC 3492), without a final dot. */
function dnsName(typed: string): string {
  const name = /^\p{ASCII}*$/u.test(typed) ? typed : domainToASCII(typed);
  return name.replace(/\.$/, '');
}

/** Returns a file name. Some file systems do not accept the colons of IPv6 addresses. */
function bundleName(typed: string): string {
  const plain = dnsName(typed).replaceAll(/[:%]/g, '-').toLowerCase();
  const name = plain.replace(/^-/, '0-'); // ::1 is 0::1 too
  if (/^[a-z0-9_][a-z0-9._-]{0,127}$/.test(name) && !name.startsWith('authority')) return name;
  throw new CodedError('NAME_INVALID', `bundle name ${JSON.stringify(typed)} is not [a-z0-9._-]`, {
    hint: 'such as db3, at most 128 characters; authority… is reserved',
  });
}
