// The hello of a program that is not a server: of a client or the tool. Pure.
import type { Caller } from './call-channel.ts';
import { commonWireVersion, helloInCommonVersion } from './check-wire-version.ts';
import { hello } from './hello.ts';
import type { RequestOf } from './message.ts';
import { wireVersion } from './wire-version.ts';

/** The sender has no address, data or rings, and servers ignore its clock. */
export function clientHello(ms: number): RequestOf<typeof hello> {
  const noIdentity = { address: '', life: null, remembered: null, settled: false, access: null };
  return { wireVersion, ...noIdentity, ms, rings: [] };
}

/**
 * Says hello on a new connection. Throws WIRE_VERSION_UNKNOWN if the server would not understand
 * later calls. Throws what `call` throws.
 */
export async function greetServer(
  server: Caller,
  { address, timeoutMs }: { address: string; timeoutMs: number },
): Promise<void> {
  const answer = await helloInCommonVersion((version) =>
    server.call(hello, { ...clientHello(0), wireVersion: version }, timeoutMs),
  );
  commonWireVersion(answer.wireVersion, address);
}
