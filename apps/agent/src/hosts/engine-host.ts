/** Entry of an engine host: a process that runs engines of volumes without a copy on this node. */
import { chooseTls } from '@holdfast/data-engine/nbd/client-tls.js';
import { tlsBetweenNodes } from './data-tls.js';
import { runAsHost } from './host-process.js';
import type { AgentMethods, EngineHostMethods } from './host-protocol.js';
import { IpcPeer } from './ipc-peer.js';
import { ServedEngines } from './serve-engines.js';

chooseTls(tlsBetweenNodes(process.env));
const engines = new ServedEngines(new IpcPeer<AgentMethods, EngineHostMethods>(process));

runAsHost(() => engines.stopAll());
