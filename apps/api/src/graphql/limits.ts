import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql';

/** The deepest useful query goes through a connection to a volume's replicas: seven. */
export const QUERY_DEPTH_MAX = 10;
/** Fields in one request, aliases included: each root field is a query of the database. */
const FIELDS_MAX = 500;
const ROOT_FIELDS_MAX = 20;

/** Refuses a request that asks for very much at once, before anything of it runs. */
export function boundedRequest(context: ValidationContext): ASTVisitor {
  let fields = 0;
  return {
    Field(node) {
      fields += 1;
      if (fields === FIELDS_MAX + 1) {
        context.reportError(new GraphQLError(`a request may have ${FIELDS_MAX} fields`, { nodes: [node] }));
      }
    },
    OperationDefinition(node) {
      if (node.selectionSet.selections.length > ROOT_FIELDS_MAX) {
        const message = `an operation may have ${ROOT_FIELDS_MAX} root fields`;
        context.reportError(new GraphQLError(message, { nodes: [node] }));
      }
    },
  };
}
