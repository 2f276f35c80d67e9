// ring-builder restore: a ring folder made anew from one ring file, or from a server's copy.
import { readFile } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { ringFileBytesMax } from '@ringwright/base/limits';
import { restoreRing } from '@ringwright/repository/restore-ring';
import { readRingHead } from '@ringwright/ring/ring-file';
import { optionalText, text, usage } from '../arguments.ts';
import { authorOf } from '../stage-verb.ts';
import type { Verb } from '../verb.ts';

const FETCH_TIMEOUT_MS = 60_000;

export const verb: Verb = {
  positionals: { ring: { describe: 'its name; needed for a server, checked for a file' } },
  options: {
    from: {
      type: 'string',
      requiresArg: true,
      demandOption: true,
      describe: 'a .ring file, or a server as http://10.0.0.1:6200',
    },
  },
  examples: [
    ['$0 restore cities --from backup/0000007.ring', 'builder and version as that file has them'],
    ['$0 restore cities --from http://10.0.0.1:6200', 'from a server that has the ring active'],
  ],
  run: async (args, context) => {
    const wanted = optionalText(args, 'ring');
    const from = text(args, 'from');
    const isServer = /^https?:\/\//.test(from);
    const bytes = isServer ? await fetchRing(from, wanted) : await readRing(from);
    const { keyspace } = readRingHead(bytes);
    if (wanted !== undefined && wanted !== keyspace) {
      throw usage(`${from} holds ring ${keyspace}, not ${wanted}`);
    }
    const { ring, id } = await restoreRing(context.rings, bytes, {
      author: authorOf(context),
      message: `from ${from}`,
      command: context.command,
    });
    const { version, moves } = ring;
    return {
      json: { ring: keyspace, version, id, inFlight: moves.length, from, changed: true },
      lines: [
        `restored ${keyspace} at version ${version} (${id.slice(0, 12)}), builder included`,
        `the log begins here: what was done before version ${version} is not in a ring file`,
        ...(moves.length > 0 ? [`${moves.length} moves are in flight: rollout goes on`] : []),
      ],
      next: context.next(`verify ${keyspace}`),
    };
  },
};

async function readRing(path: string): Promise<Uint8Array> {
  return readFile(path).catch((cause: unknown) => {
    throw usage(`--from ${path}: ${cause instanceof Error ? cause.message : String(cause)}`);
  });
}

async function fetchRing(server: string, ring: string | undefined): Promise<Uint8Array> {
  if (ring === undefined) throw usage('which ring? ring-builder restore RING --from http://…');
  const url = new URL(`/v1/rings/${ring}?format=file`, server);
  const answer = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) }).catch(
    (cause: unknown) => {
      throw new CodedError('PEER_UNREACHABLE', `${server} cannot be reached`, { cause });
    },
  );
  const length = Number(answer.headers.get('content-length') ?? 0);
  if (answer.ok && length <= ringFileBytesMax) return new Uint8Array(await answer.arrayBuffer());
  const message = `${url.href} answered ${answer.status} with ${length} bytes`;
  throw new CodedError('PEER_FAILED', message, {
    hint: `curl ${url.origin}/v1/status lists the rings it has`,
    details: { status: answer.status },
  });
}
