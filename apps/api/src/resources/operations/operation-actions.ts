import { NoBody } from '../../http/schemas.js';
import { type ActionTarget, serveAction } from '../actions/serve-action.js';
import { cancelOperation } from './cancel-operation.js';
import { OperationDto, OperationPath, type OperationView } from './operation.schemas.js';
import { type FoundOperation, readOperation } from './read-operation.js';

const OPERATION: ActionTarget<typeof OperationPath.schema, FoundOperation, OperationView> = {
  plural: 'Operations',
  noun: 'Operation',
  address: 'api/v1/clusters/:clusterId/operations/:operationId',
  path: OperationPath,
  // The permission of its kind is checked later: cancelling a drain changes a node.
  access: 'volume:write',
  answer: OperationDto,
  read: readOperation,
  view: ({ view }) => view,
};

export const OPERATION_ACTIONS = [
  serveAction(OPERATION, {
    name: 'cancel',
    summary: 'Cancel a running operation',
    body: NoBody,
    refuses: [
      'operation.not_found',
      'operation.not_cancellable',
      'cluster.not_found',
      'node.not_found',
      'node.last_ready',
      'disk.not_found',
      'disk.last_ready',
      'rebuild.not_found',
      'rebuild.finished',
      'volume.not_found',
    ],
    act: ({ tenant, before: { operation } }) => cancelOperation(tenant, operation),
    isDone: () => true,
  }),
];
