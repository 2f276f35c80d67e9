// The store of heads that a URL names.
import { CodedError } from '@ringwright/base/coded-error';
import { directoryHeadStore } from './directory-head-store.ts';
import { etcdHeadStore } from './etcd-head-store.ts';
import type { HeadStore } from './head-store.ts';

const defaultPrefix = 'ringwright';

/** `etcd://HOST:PORT,HOST:PORT[/PREFIX]` or `dir:PATH`. Throws USAGE. */
export function openHeadStore(url: string): HeadStore {
  const etcd = /^etcd:\/\/([^/,\s]+(?:,[^/,\s]+)*)(?:\/([\w./-]*))?$/.exec(url);
  const [, hosts, prefix] = etcd ?? [];
  if (hosts !== undefined) {
    const members = hosts.split(',');
    if (members.every((member) => /^.+:\d{1,5}$/.test(member))) {
      return etcdHeadStore(url, { members, prefix: prefix?.replace(/\/+$/, '') || defaultPrefix });
    }
  }
  const [, path] = /^dir:(.+)$/.exec(url) ?? [];
  if (path !== undefined) return directoryHeadStore(url, path);
  throw new CodedError('USAGE', `--store ${JSON.stringify(url)} names no store`, {
    hint: '--store etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379/ringwright',
    details: { url },
  });
}
