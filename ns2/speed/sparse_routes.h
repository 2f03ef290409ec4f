// Shortest paths of a network in which most nodes have few neighbours.
#ifndef bdpbench_sparse_routes_h
#define bdpbench_sparse_routes_h

#include "route.h"

/*
 * What RouteLogic::compute_routes() does, to the same routes: of the nodes that are not done, the
 * nearest one comes next, of equally near ones that of the lowest number, and a node's route is
 * changed only for a shorter one. The nearest node is taken from a heap, and only neighbours are
 * visited, so that a source takes n log n steps where it took n * n.
 */
class SparseRoutes {
public:
	// Fills in the routes between different nodes, all of which are 0. Returns false and does
	// nothing if a cost is negative or more than INFINITY, which stands for no link: then nodes
	// that are not neighbours could shorten a path.
	static bool compute(const adj_entry* costs, int size, route_entry* routes);
};

#endif
