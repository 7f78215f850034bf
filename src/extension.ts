import * as vscode from 'vscode';
import { AdapterFactory } from './adapter';
import { breakpointCommands } from './breakpoints/commands';
import { configurationCommands } from './configuration/commands';
import { ConfigurationResolver, DynamicConfigurations, InitialConfigurations } from './configuration/provider';
import { DEBUG_TYPE } from './constants';
import { heldCommands } from './held';
import { collectLogs } from './logs';
import { Sessions } from './sessions';
import { offerCommand } from './terminal';
import { Timeline } from './timeline/host';

export function activate(context: vscode.ExtensionContext): void {
  offerCommand(context);
  const sessions = new Sessions();
  const { Initial, Dynamic } = vscode.DebugConfigurationProviderTriggerKind;
  context.subscriptions.push(
    sessions,
    vscode.debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, new AdapterFactory(context)),
    // A provider registered once resolves once; the other two only list.
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, new ConfigurationResolver(), Initial),
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, new InitialConfigurations(), Initial),
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, new DynamicConfigurations(), Dynamic),
    configurationCommands(),
    breakpointCommands(sessions),
    heldCommands(sessions),
    new Timeline(context, sessions),
    vscode.commands.registerCommand('toolbreak.collectLogs', () => collectLogs(context, sessions)),
  );
}
