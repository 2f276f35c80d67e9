// Wraps a command with the root of trust that the folder must have, the proof of identity that
// servers must give, and the credentials it shows.
import type { Arguments } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import type { RootCheck } from './versions/known-root.ts';

/**
 * Returns the command `name`, run with these proofs and credentials. Servers must prove their
 * identity where their keys or authority are known.
 */
export function proving(
  name: string,
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
): Command {
  return {
    ...command,
    run: async (args, context) => {
      const [{ withProofs, unasked }, { identityToShow, tokenToShow }, roots] = await Promise.all([
        import('./servers/server-proofs.ts'),
        import('./cli/token-place.ts'),
        import('./versions/known-root.ts'),
      ]);
      const check = await rootCheck(name, args, env);
      const firstSight = check && (await roots.requireKnownRoot(context, check));
      const ca = args.optionalText('ca') ?? env['RINGWRIGHT_CA'];
      const typed = args.optionalText('fingerprint') ?? env['RINGWRIGHT_FINGERPRINT'];
      const fingerprint = typed === undefined ? null : await fingerprintOf(typed);
      const token = await tokenToShow(args, env);
      const bundle = args.optionalText('client-cert') ?? env['RINGWRIGHT_CLIENT_CERT'];
      const identity = await identityToShow(bundle);
      const trusted = { rings: context.rings, ca, fingerprint, token, identity };
      return withProofs(trusted, context, async () => {
        try {
          const answer = await command.run(args, context);
          if (firstSight !== null) context.tell(firstSight);
          if (check !== null) await roots.rememberRoot(context, check);
          return answer;
        } finally {
          await askHowTheyListen(unasked());
        }
      });
    },
  };
}

/** These only print what the folder says, or judge it themselves. */
const looking = new Set(['compare', 'completion', 'diff', 'log', 'show', 'simulate', 'verify']);

/** Null for a command without servers and signatures, which also works on a replaced folder. */
async function rootCheck(
  name: string,
  args: Arguments,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RootCheck | null> {
  if (looking.has(name)) return null;
  if (name === 'key') {
    const { isChange } = await import('./commands/secure/root-change.ts');
    const action = args.text('action');
    if (action === 'list' || action === 'protect') return null;
    if (action === 'trust' && !args.flag('sign') && !isChange(args)) return null;
  }
  return {
    pin: env['RINGWRIGHT_TRUST'],
    ring: args.optionalText('ring'),
    isRestore: name === 'restore',
    isMonitor: name === 'health' || name === 'servers' || name === 'list',
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
