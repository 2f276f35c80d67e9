// A verb as it is run: what servers have to prove to it, and what it shows to them.
import { optionalText } from './cli/arguments.ts';
import type { Verb } from './cli/verb.ts';

/** Servers that the verb asks have to prove who they are, where that is known. */
export function proving(verb: Verb, env: Readonly<Record<string, string | undefined>>): Verb {
  return {
    ...verb,
    run: async (args, context) => {
      const [{ withProofs, unasked }, { identityToShow, tokenToShow }] = await Promise.all([
        import('./servers/server-proofs.ts'),
        import('./cli/token-place.ts'),
      ]);
      const ca = optionalText(args, 'ca') ?? env['RINGWRIGHT_CA'];
      const given = optionalText(args, 'fingerprint') ?? env['RINGWRIGHT_FINGERPRINT'];
      const fingerprint = given === undefined ? null : await fingerprintOf(given);
      const token = await tokenToShow(args, env);
      const bundle = optionalText(args, 'client-cert') ?? env['RINGWRIGHT_CLIENT_CERT'];
      const identity = await identityToShow(bundle);
      const trusted = { rings: context.rings, ca, fingerprint, token, identity };
      return withProofs(trusted, context, async () => {
        try {
          return await verb.run(args, context);
        } finally {
          await askHowTheyListen(unasked());
        }
      });
    },
  };
}

/** Read before any server is asked: a ring may name the keys of all. Throws USAGE. */
async function fingerprintOf(hex: string): Promise<string> {
  const { keyFingerprint } = await import('@ringwright/node/link/prove-server');
  return keyFingerprint(hex);
}

/** Servers that were spoken to: the answers are noted where they come in. */
async function askHowTheyListen(addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  const [{ fanOut }, { statusOrWhyNot }] = await Promise.all([
    import('./servers/fan-out.ts'),
    import('./servers/server-status.ts'),
  ]);
  await fanOut(addresses, statusOrWhyNot);
}
