// Loaded into the helper processes of a tortured server, before their own first module.
import module from 'node:module';
import { environment } from './control.ts';
import { nameConnections } from './name-connections.ts';
import { patchSources, type SourcePatch } from './source-patches.ts';

patchSources(JSON.parse(process.env[environment.patches] ?? '[]') as SourcePatch[]);
nameConnections(process.env[environment.source] ?? '127.0.0.1');
module.syncBuiltinESMExports();
