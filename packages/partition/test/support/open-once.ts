// Opens the store named on the command line in a process of its own, and prints how that went.
import { openStore } from '../../src/open-store.ts';

const directory = process.argv[2] ?? '';
try {
  const store = await openStore({ directory, newIncarnation: () => 'unused' });
  await store.close();
  process.stdout.write('opened');
} catch (error) {
  process.stdout.write(error instanceof Error && 'code' in error ? String(error.code) : 'failed');
}
