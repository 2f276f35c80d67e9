// Calls to whichever member of an etcd cluster answers, over its JSON gateway.
import { CodedError } from '@ringwright/base/coded-error';
import { etcdCallMs, etcdWatchMs } from '@ringwright/base/limits';

interface Sent {
  /** Null when a member may have done it, and no member answered. */
  readonly answer: unknown;
  readonly member: string;
  /** A member that broke off before may have done it too. */
  readonly doubtful: boolean;
}

export interface EtcdMembers {
  /** For what may be asked twice. Throws HEAD_STORE_UNREACHABLE. */
  call(path: string, body: unknown): Promise<Sent>;
  /** For what changes something. Throws HEAD_STORE_UNREACHABLE when no member can have had it. */
  send(path: string, body: unknown): Promise<Sent>;
  /** The lines of an answer that goes on; it ends after etcdWatchMs, in case the member is gone. */
  stream(
    member: string,
    asked: { readonly path: string; readonly request: unknown },
    ending: AbortSignal,
  ): AsyncGenerator<unknown>;
}

export function etcdMembers(members: readonly string[]): EtcdMembers {
  let first = 0;
  const send = async (path: string, body: unknown): Promise<Sent> => {
    let doubtful = false;
    let cause: unknown;
    for (let tried = 0; tried < members.length; tried += 1) {
      const at = (first + tried) % members.length;
      const member = members[at] ?? '';
      try {
        const signal = AbortSignal.timeout(etcdCallMs);
        const response = await post(member, { path, body }, signal);
        const answer: unknown = await response.json();
        first = at;
        return { answer, member, doubtful };
      } catch (error) {
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
    async *stream(member, { path, request }, ending) {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(etcdWatchMs)]);
      const { body } = await post(member, { path, body: request }, signal);
      let rest = '';
      for await (const chunk of (body ?? new ReadableStream()).pipeThrough(
        new TextDecoderStream(),
      )) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield JSON.parse(line);
      }
    },
  };
}

async function post(
  member: string,
  { path, body }: { readonly path: string; readonly body: unknown },
  signal: AbortSignal,
): Promise<Response> {
  const request = { method: 'POST', body: JSON.stringify(body), signal };
  const response = await fetch(`http://${member}${path}`, request);
  if (response.ok) return response;
  throw new Error(
    `${member} answered ${response.status}: ${(await response.text()).slice(0, 300)}`,
  );
}

/** Only then the request certainly did nothing. */
function neverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EHOSTUNREACH';
}

function unreachable(members: readonly string[], cause: unknown): CodedError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  const message = `no member of etcd at ${members.join(', ')} answers${why}`;
  return new CodedError('HEAD_STORE_UNREACHABLE', message, {
    hint: 'a majority of its members must be up: etcdctl endpoint status',
    details: { members },
    cause,
  });
}
