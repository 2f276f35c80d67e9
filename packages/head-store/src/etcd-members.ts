// Sends calls to whichever member of an etcd cluster answers, as the store's user.
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { etcdCallMs, etcdWatchMs } from '@ringwright/base/limits';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import { z } from 'zod';
import { type EtcdPlace, type EtcdPost, postEtcd, readSecret } from './etcd-request.ts';

interface Sent {
  /** Null when no member answered and one of them may have executed the call. */
  readonly answer: unknown;
  readonly member: string;
  /** An interrupted earlier member may have executed the call too. */
  readonly doubtful: boolean;
}

export interface EtcdMembers {
  /** For idempotent calls. Throws HEAD_STORE_UNREACHABLE, HEAD_STORE_REFUSED. */
  call(path: string, body: unknown): Promise<Sent>;
  /** For calls that change something. Throws the same errors if no member can have executed it. */
  send(path: string, body: unknown): Promise<Sent>;
  /** Yields the lines of a streamed answer; ends after etcdWatchMs, in case the member is gone. */
  stream(
    member: string,
    call: { readonly path: string; readonly request: unknown },
    ending: AbortSignal,
  ): AsyncGenerator<unknown>;
}

export function etcdMembers(members: readonly string[], settings: EtcdPlace): EtcdMembers {
  const post = postAs(settings);
  let first = 0;
  const send = async (path: string, body: unknown): Promise<Sent> => {
    let doubtful = false;
    let cause: unknown;
    for (let tried = 0; tried < members.length; tried += 1) {
      const at = (first + tried) % members.length;
      const member = members[at] ?? '';
      try {
        const signal = AbortSignal.timeout(etcdCallMs);
        const answer: unknown = await json(await post({ member, path, body }, signal));
        first = at;
        return { answer, member, doubtful };
      } catch (error) {
        if (error instanceof CodedError && !doubtful) throw error;
        cause = error;
        doubtful ||= !neverConnected(error);
      }
    }
    if (doubtful) return { answer: null, member: '', doubtful };
    throw unreachable(members, cause);
  };
  return {
    send,
    async call(path, body) {
      const sent = await send(path, body);
      if (sent.answer === null) throw unreachable(members, null);
      return sent;
    },
    async *stream(member, { path, request: body }, ending) {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(etcdWatchMs)]);
      const response = await post({ member, path, body }, signal);
      let rest = '';
      try {
        for await (const chunk of response.setEncoding('utf8')) {
          const lines = (rest + String(chunk)).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) yield JSON.parse(line);
        }
      } catch (error) {
        // Either etcdWatchMs is over, or nobody listens any more.
        if (!signal.aborted) throw error;
      }
    },
  };
}

type Post = (call: Omit<EtcdPost, 'token'>, signal: AbortSignal) => Promise<IncomingMessage>;

const tokenSchema = z.object({ token: z.string() });

/** With a user, calls carry a token, which is renewed when a member no longer accepts it. */
function postAs(settings: EtcdPlace): Post {
  const { user, passwordFile } = settings.access;
  if (user === undefined)
    return (call, signal) => postEtcd(settings, { ...call, token: null }, signal);
  let token: string | null = null;
  const authenticate = async (member: string, signal: AbortSignal): Promise<string> => {
    const password = passwordFile === undefined ? '' : String(await readSecret(passwordFile));
    const body = { name: user, password: password.replace(/\r?\n$/, '') };
    const request = { member, path: '/v3/auth/authenticate', body, token: null };
    return tokenSchema.parse(await json(await postEtcd(settings, request, signal))).token;
  };
  return async (call, signal) => {
    const previousToken = token;
    token ??= await authenticate(call.member, signal);
    try {
      return await postEtcd(settings, { ...call, token }, signal);
    } catch (error) {
      if (previousToken === null || !hasCode(error, 'HEAD_STORE_REFUSED')) throw error;
      token = null;
      token = await authenticate(call.member, signal);
      return postEtcd(settings, { ...call, token }, signal);
    }
  };
}
/** TLS errors: no connection was made that both sides trust. */
const tlsCode = /^(ERR_SSL|ERR_TLS|CERT|UNABLE|DEPTH|SELF_SIGNED|HOSTNAME)_/;

/** Whether no connection was made; only then the request certainly did nothing. */
function neverConnected(error: unknown): boolean {
  const code = codeOf(error);
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH'].includes(code) || tlsCode.test(code);
}

function unreachable(members: readonly string[], cause: unknown): CodedError {
  const why = cause instanceof Error ? `: ${messageOf(cause)}` : '';
  const message = `no member of etcd at ${members.join(', ')} answers${why}`;
  return new CodedError('HEAD_STORE_UNREACHABLE', message, {
    hint: tlsCode.test(codeOf(cause))
      ? 'use etcds:// with --store-ca FILE, and with --store-cert and --store-key if required'
      : 'a majority of its members must be up: etcdctl endpoint status',
    details: { members },
    cause,
  });
}
