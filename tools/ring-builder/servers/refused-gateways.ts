// Finds gateways that have a ring but whose requests its devices refuse. Each reports it in
// /readyz.
import { jsonOrNull } from '@ringwright/base/parse-json';
import { getHttp } from '@ringwright/node/link/get-http';
import { z } from 'zod';
import type { Target } from './ring-targets.ts';
import { connectTimeoutMs, fanOut } from './server-connection.ts';
import { credentialsFor } from './server-proofs.ts';

const readySchema = z.object({ waiting: z.array(z.object({ why: z.string().optional() })) });

/**
 * Returns the gateways among these servers whose requests are refused. A server that does not
 * answer is not counted.
 */
export async function refusedGateways(
  servers: readonly Pick<Target, 'address'>[],
  ring: string,
): Promise<string[]> {
  const rejected = await fanOut(servers, async ({ address }) => {
    const path = `/readyz?ring=${ring}`;
    const request = { ...(await credentialsFor(address)), timeoutMs: connectTimeoutMs };
    const { body } = await getHttp(address, path, request).catch(() => ({
      body: '',
    }));
    const { data } = readySchema.safeParse(jsonOrNull(body));
    return data?.waiting.some(({ why }) => why === 'CALLER_UNPROVEN') === true ? [address] : [];
  });
  return rejected.flat();
}

/**
 * Returns the command that grants the gateway access, for Context.next. The resulting file is for
 * `--token-file`.
 */
export function gatewayGrant(ring: string): string {
  return `access grant NAME --peer --read ${ring} --write ${ring} --out FILE`;
}

export function refusedGatewaysLine(addresses: readonly string[], ring: string): string {
  const [who, it] = addresses.length === 1 ? ['has', 'it'] : ['have', 'them'];
  return (
    `${addresses.join(' ')} ${who} ${ring} but cannot serve it: its devices reject requests of ` +
    `${it}; ring-builder ${gatewayGrant(ring)} and ring-server --token-file FILE fix that`
  );
}
