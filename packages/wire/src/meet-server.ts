// The hello of a program that is no server: of a client, of the tool. Pure.
import type { Caller } from './call-channel.ts';
import { commonWireVersion, helloInCommonVersion } from './check-wire-version.ts';
import { hello } from './hello.ts';
import type { RequestOf } from './message.ts';
import { wireVersion } from './wire-version.ts';

/** It has no address, no data and no rings; no server goes by its clock. */
export function clientHello(ms: number): RequestOf<typeof hello> {
  const nobody = { address: '', life: null, remembered: null, settled: false, access: null };
  return { wireVersion, ...nobody, ms, rings: [] };
}

/**
 * Says hello on a new connection. Throws WIRE_VERSION_UNKNOWN: then the server there does not
 * understand what would be called next. Throws what `call` throws.
 */
export async function meetServer(
  server: Caller,
  { address, timeoutMs }: { address: string; timeoutMs: number },
): Promise<void> {
  const answer = await helloInCommonVersion((version) =>
    server.call(hello, { ...clientHello(0), wireVersion: version }, timeoutMs),
  );
  commonWireVersion(answer.wireVersion, address);
}
