#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "config.h"
#include "sparse_routes.h"

namespace {

struct Neighbour {
	Neighbour(int a_node, double a_cost) : node(a_node), cost(a_cost) {}
	int node;
	double cost;
};

typedef std::vector<std::vector<Neighbour> > Neighbours;	// of each node; the first is 1
typedef std::pair<double, int> Reached;		// distance, node
typedef std::priority_queue<Reached, std::vector<Reached>, std::greater<Reached> > Nearest;

bool are_plain(const adj_entry* costs, int size)
{
	for (int i = 0; i < size * size; ++i)
		if (!(costs[i].cost >= 0 && costs[i].cost <= INFINITY))
			return false;
	return true;
}

Neighbours neighbours_of(const adj_entry* costs, int size)
{
	Neighbours found(size);
	for (int i = 1; i < size; ++i)
		for (int j = 1; j < size; ++j)
			if (costs[INDEX(i, j, size)].cost < INFINITY)
				found[i].push_back(Neighbour(j, costs[INDEX(i, j, size)].cost));
	return found;
}

// `routes` and `links` are the source's rows.
void compute_from(int source, const Neighbours& neighbours, const adj_entry* links,
	route_entry* routes)
{
	std::vector<double> distances(neighbours.size(), INFINITY);
	std::vector<char> done(neighbours.size(), false);
	Nearest nearest;
	done[source] = true;
	for (size_t i = 0; i < neighbours[source].size(); ++i) {
		const Neighbour& next = neighbours[source][i];
		if (next.node == source)
			continue;
		distances[next.node] = next.cost;
		routes[next.node].next_hop = next.node;
		routes[next.node].entry = links[next.node].entry;
		nearest.push(Reached(next.cost, next.node));
	}
	while (!nearest.empty()) {
		const int node = nearest.top().second;
		nearest.pop();
		if (done[node])
			continue;	// it was reached on a shorter path, too
		done[node] = true;
		for (size_t i = 0; i < neighbours[node].size(); ++i) {
			const Neighbour& next = neighbours[node][i];
			const double distance = distances[node] + next.cost;
			if (done[next.node] || !(distance < distances[next.node]))
				continue;
			distances[next.node] = distance;
			routes[next.node] = routes[node];
			nearest.push(Reached(distance, next.node));
		}
	}
}

}  // namespace

bool SparseRoutes::compute(const adj_entry* costs, int size, route_entry* routes)
{
	if (!are_plain(costs, size))
		return false;
	const Neighbours neighbours = neighbours_of(costs, size);
	for (int source = 1; source < size; ++source)
		compute_from(source, neighbours, costs + INDEX(source, 0, size),
			routes + INDEX(source, 0, size));
	return true;
}
