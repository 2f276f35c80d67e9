// Wraps a command with the proof of identity that servers must give and the credentials it shows.
import type { Command } from './cli/command.ts';

/**
 * Returns the command, run with these proofs and credentials. Servers must prove their identity
 * where their keys or authority are known.
 */
export function proving(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
): Command {
  return {
    ...command,
    run: async (args, context) => {
      const [{ withProofs, unasked }, { identityToShow, tokenToShow }] = await Promise.all([
        import('./servers/server-proofs.ts'),
        import('./cli/token-place.ts'),
      ]);
      const ca = args.optionalText('ca') ?? env['RINGWRIGHT_CA'];
      const typed = args.optionalText('fingerprint') ?? env['RINGWRIGHT_FINGERPRINT'];
      const fingerprint = typed === undefined ? null : await fingerprintOf(typed);
      const token = await tokenToShow(args, env);
      const bundle = args.optionalText('client-cert') ?? env['RINGWRIGHT_CLIENT_CERT'];
      const identity = await identityToShow(bundle);
      const trusted = { rings: context.rings, ca, fingerprint, token, identity };
      return withProofs(trusted, context, async () => {
        try {
          return await command.run(args, context);
        } finally {
          await askHowTheyListen(unasked());
        }
      });
    },
  };
}

/**
 * Checked before any server is asked, because a ring may name the keys of all servers, so that the
 * fingerprint is never used. Throws USAGE.
 */
async function fingerprintOf(hex: string): Promise<string> {
  const { keyFingerprint } = await import('@ringwright/node/link/prove-server');
  return keyFingerprint(hex);
}

/**
 * Asks servers for their status if the command has not. Reading a status records whether the server
 * is insecure.
 */
async function askHowTheyListen(addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  const [{ fanOut }, { statusOrWhyNot }] = await Promise.all([
    import('./servers/server-connection.ts'),
    import('./servers/server-status.ts'),
  ]);
  await fanOut(addresses, statusOrWhyNot);
}
