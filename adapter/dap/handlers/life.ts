import { CAPABILITIES } from '../capabilities';
import type { Handler } from '../requests';

export const initialize: Handler<'initialize'> = ({ session, client }, args) => {
  if (!client.initialized) client.name = session.nameOf(args.clientName);
  client.initialize = args;
  client.initialized = true;
  return CAPABILITIES;
};

export const launch: Handler<'launch'> = ({ session, client, signal }, args) =>
  session.begin(client, 'launch', args, signal);
export const attach: Handler<'attach'> = ({ session, client, signal }, args) =>
  session.begin(client, 'attach', args, signal);

export const configurationDone: Handler<'configurationDone'> = ({ client }) => client.configurationDone();

export const restart: Handler<'restart'> = ({ session }, args) => session.restart(args.arguments);
export const terminate: Handler<'terminate'> = ({ session }) => session.terminate();
export const disconnect: Handler<'disconnect'> = ({ session, client }, args) =>
  session.disconnect(client, args.terminateDebuggee);
