// All nemeses by their letters.
import type { Nemesis } from '../nemesis.ts';
import { kill } from './kill.ts';

export const nemeses: readonly Nemesis[] = [kill];
