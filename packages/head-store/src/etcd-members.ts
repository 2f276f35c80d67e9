// Sends calls to whichever member of an etcd cluster answers, as the store's user.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { etcdCallMs, etcdWatchMs } from '@ringwright/base/limits';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import { z } from 'zod';
import { type EtcdPlace, type EtcdPost, postEtcd, readSecret } from './etcd-request.ts';

interface Call<Answer> {
  readonly path: string;
  readonly body: unknown;
  readonly answer: z.ZodType<Answer>;
}

interface Sent<Answer> {
  /** Null when no member answered and one of them may have executed the call. */
  readonly answer: Answer;
  readonly member: string;
  /** An interrupted earlier member may have executed the call too. */
  readonly doubtful: boolean;
}

export interface EtcdMembers {
  /** For idempotent calls. Throws HEAD_STORE_UNREACHABLE, HEAD_STORE_REFUSED. */
  call<Answer>(call: Call<Answer>): Promise<Sent<Answer>>;
  /** For calls that change something. Throws the same errors if no member can have executed it. */
  send<Answer>(call: Call<Answer>): Promise<Sent<Answer | null>>;
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
  /** `cause`: why the last member that was tried did not answer. */
  const send = async <Answer>(
    call: Call<Answer>,
  ): Promise<Sent<Answer | null> & { readonly cause: unknown }> => {
    const { path, body } = call;
    let doubtful = false;
    let cause: unknown;
    for (let tried = 0; tried < members.length; tried += 1) {
      const at = (first + tried) % members.length;
      const member = members[at] ?? '';
      try {
        const signal = AbortSignal.timeout(etcdCallMs);
        const answer = await answerIn(await post({ member, path, body }, signal), call.answer);
        first = at;
        return { answer, member, doubtful, cause };
      } catch (error) {
        if (error instanceof CodedError && !doubtful) throw error;
        cause = error;
        doubtful ||= !neverConnected(error);
      }
    }
    if (doubtful) return { answer: null, member: '', doubtful, cause };
    throw unreachable(members, cause);
  };
  return {
    send,
    async call(call) {
      const { answer, cause, ...sent } = await send(call);
      if (answer === null) throw unreachable(members, cause);
      return { ...sent, answer };
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

/** Throws if the answer has another form than etcd's: another program listens there. */
async function answerIn<Answer>(
  response: IncomingMessage,
  schema: z.ZodType<Answer>,
): Promise<Answer> {
  const answer = schema.safeParse(jsonOrNull(await text(response)));
  if (answer.success) return answer.data;
  throw new Error('another program answers there');
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
    return (await answerIn(await postEtcd(settings, request, signal), tokenSchema)).token;
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
      ? 'their certificates must be valid now, name these addresses, and be issued by that of --store-ca FILE; if they require one, --store-cert and --store-key give it'
      : 'a majority of its members must be up: etcdctl endpoint status; with TLS their URL begins with etcds://',
    details: { members },
    cause,
  });
}
