// All nemeses by their letters.
import type { Nemesis } from '../nemesis.ts';
import { archive } from './archive.ts';
import { clock } from './clock.ts';
import { disk } from './disk.ts';
import { kill } from './kill.ts';
import { part } from './part.ts';
import { pause } from './pause.ts';
import { rings } from './rings.ts';

export const nemeses: readonly Nemesis[] = [kill, pause, part, clock, disk, rings, archive];
