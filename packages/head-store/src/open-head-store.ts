// Opens the head store that a URL names.
import { CodedError } from '@ringwright/base/coded-error';
import { directoryHeadStore } from './directory-head-store.ts';
import { etcdHeadStore } from './etcd-head-store.ts';
import type { HeadStore } from './head-store.ts';
import { openAccess, type StoreAccess } from './store-access.ts';

const defaultPrefix = 'ringwright';
const etcdUrl = /^etcd(s?):\/\/(?:([^/@\s]*)@)?([^/@,\s]+(?:,[^/@,\s]+)*)(?:\/([\w./-]*))?$/;

/** `etcd[s]://[USER@]HOST:PORT,HOST:PORT[/PREFIX]` or `dir:PATH`. Throws USAGE. */
export function openHeadStore(text: string, access: StoreAccess = openAccess): HeadStore {
  const { url, user } = splitUser(text);
  const [, secure, , hosts, prefix] = etcdUrl.exec(url) ?? [];
  const members = hosts?.split(',') ?? [];
  if (hosts !== undefined && members.every((member) => /^.+:\d{1,5}$/.test(member))) {
    const start = prefix?.replace(/\/+$/, '') || defaultPrefix;
    const userAccess = user === null ? access : { ...access, user };
    return etcdHeadStore(url, { members, prefix: start, tls: secure === 's', access: userAccess });
  }
  const [, path] = /^dir:(.+)$/.exec(url) ?? [];
  if (path !== undefined) return directoryHeadStore(url, path);
  const message = `--store ${JSON.stringify(url)} is not the address of a head store`;
  throw new CodedError('USAGE', message, {
    hint: '--store etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379/ringwright',
    details: { url },
  });
}

/**
 * Splits off the user, which belongs to this machine; the rest is the same for all. Throws USAGE if
 * the URL contains a password: it would appear in process lists and in store.json.
 */
export function splitUser(url: string): { readonly url: string; readonly user: string | null } {
  const user = etcdUrl.exec(url)?.[2];
  if (user === undefined) return { url, user: null };
  if (user === '' || user.includes(':')) {
    throw new CodedError('USAGE', '--store contains a password, or has no name before the @', {
      hint: '--store etcds://USER@HOST:PORT,… --store-password-file FILE',
    });
  }
  return { url: url.replace(`${user}@`, ''), user: decodeURIComponent(user) };
}
