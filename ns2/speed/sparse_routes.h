// Shortest paths of a network in which most nodes have few neighbours.
#ifndef bdpbench_sparse_routes_h
#define bdpbench_sparse_routes_h

#include <vector>

struct adj_entry;
struct route_entry;

/*
 * Costs of links, and the routes that RouteLogic::compute_routes() finds with them: of the nodes
 * that are not done, the nearest one comes next, of equally near ones that of the lowest number,
 * and a node's route is changed only for a shorter one. The nearest node is taken from a heap, and
 * only neighbours are visited, so that a source takes n log n steps where it took n * n. Routes are
 * computed when they are asked for, and those of one source are kept: nothing takes n * n bytes.
 * A node with one neighbour is not searched from where all links lead in both directions.
 *
 * Nodes are numbered as RouteLogic does, from 1 on.
 */
class SparseRoutes {
public:
	SparseRoutes() : computed_(false), source_(0) {}
	// A cost of INFINITY: there is no link.
	void insert(int from, int to, double cost);
	void clear();
	// Routes are from now on those of the present costs. Returns false, and there are no routes,
	// if a cost is negative or more than INFINITY: then nodes that are not neighbours could
	// shorten a path.
	bool compute();
	bool computed() const { return computed_; }
	// 0: there is no route.
	int next_hop(int source, int destination) {
		if (source <= 0 || destination <= 0 || source == destination)
			return source == destination && source > 0 ? source : 0;
		if (source != source_)
			find_routes(source);
		return destination < int(routes_.size()) ? routes_[destination] : 0;
	}
	// The costs as a matrix of RouteLogic's, all of whose entries are INFINITY.
	void fill(adj_entry* costs, int size) const;
	// Computes routes between different nodes, all of which are 0, from such a matrix. Returns
	// false and does nothing where compute() would.
	static bool compute(const adj_entry* costs, int size, route_entry* routes);
private:
	struct Link {
		Link(int a_node, double a_cost) : node(a_node), cost(a_cost) {}
		bool operator<(const Link& o) const { return node < o.node; }
		int node;
		double cost;
	};
	typedef std::vector<Link> Links;	// to other nodes, by their numbers
	void find_routes(int source);
	void search(int source);
	void find_networks();
	int only_neighbour(int node) const;
	bool are_plain() const;
	bool lead_back() const;

	std::vector<Links> now_;	// of each node
	std::vector<Links> links_;	// the same when routes were computed
	std::vector<int> networks_;	// of each node: a number for all that it reaches; or empty
	bool computed_;
	int source_;			// 0: none yet
	std::vector<int> routes_;	// of the source, to each node
};

#endif
