import { parentPort, workerData } from 'node:worker_threads';
import { StoreWorker } from './storeWorker';
import type { ToWorker, WorkerData } from './messages';

if (parentPort === null) throw new Error('The store worker runs in a worker thread only.');
const port = parentPort;
const worker = new StoreWorker(workerData as WorkerData, (message) => port.postMessage(message));
port.on('message', (message: ToWorker) => worker.receive(message));
worker.start();
