#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "config.h"
#include "route.h"
#include "sparse_routes.h"

namespace {

typedef std::pair<double, int> Reached;		// distance, node
typedef std::priority_queue<Reached, std::vector<Reached>, std::greater<Reached> > Nearest;

}  // namespace

void SparseRoutes::insert(int from, int to, double cost)
{
	if (from >= int(now_.size()) || to >= int(now_.size()))
		now_.resize(std::max(from, to) + 1);
	Links& links = now_[from];
	const Link link(to, cost);
	Links::iterator place = std::lower_bound(links.begin(), links.end(), link);
	const bool known = place != links.end() && place->node == to;
	if (known && cost == INFINITY)
		links.erase(place);
	else if (known)
		place->cost = cost;
	else if (cost != INFINITY)
		links.insert(place, link);
}

void SparseRoutes::clear()
{
	now_.clear();
	computed_ = false;
}

bool SparseRoutes::compute()
{
	computed_ = are_plain();
	if (!computed_)
		return false;
	links_ = now_;
	source_ = 0;
	networks_.clear();
	if (lead_back())
		find_networks();
	return true;
}

bool SparseRoutes::are_plain() const
{
	for (size_t i = 0; i < now_.size(); ++i)
		for (size_t j = 0; j < now_[i].size(); ++j)
			if (!(now_[i][j].cost >= 0 && now_[i][j].cost <= INFINITY))
				return false;
	return true;
}

// Whether there is a link back for each link, and no path can be as long as INFINITY, so that a
// node reaches all those that its neighbours reach.
bool SparseRoutes::lead_back() const
{
	double longest = 0;
	for (size_t i = 0; i < links_.size(); ++i)
		for (size_t j = 0; j < links_[i].size(); ++j) {
			const Links& back = links_[links_[i][j].node];
			if (!std::binary_search(back.begin(), back.end(), Link(i, 0)))
				return false;
			longest = std::max(longest, links_[i][j].cost);
		}
	return longest * links_.size() < INFINITY;
}

void SparseRoutes::find_networks()
{
	networks_.assign(links_.size(), 0);
	std::vector<int> found;
	for (size_t first = 1; first < links_.size(); ++first) {
		if (networks_[first] == 0)
			found.push_back(first);
		while (!found.empty()) {
			const int node = found.back();
			found.pop_back();
			if (networks_[node] != 0)
				continue;
			networks_[node] = first;
			for (size_t i = 0; i < links_[node].size(); ++i)
				found.push_back(links_[node][i].node);
		}
	}
}

// 0: there are none or several.
int SparseRoutes::only_neighbour(int node) const
{
	const Links& links = links_[node];
	return links.size() == 1 && links[0].node != node ? links[0].node : 0;
}

void SparseRoutes::find_routes(int source)
{
	source_ = source;
	routes_.assign(links_.size(), 0);
	if (source >= int(links_.size()))
		return;
	const int neighbour = networks_.empty() ? 0 : only_neighbour(source);
	if (neighbour == 0)
		search(source);
	for (size_t i = 1; neighbour != 0 && i < routes_.size(); ++i)
		if (networks_[i] == networks_[source])
			routes_[i] = neighbour;
}

void SparseRoutes::search(int source)
{
	std::vector<double> distances(links_.size(), INFINITY);
	std::vector<char> done(links_.size(), false);
	Nearest nearest;
	done[source] = true;
	for (size_t i = 0; i < links_[source].size(); ++i) {
		const Link& next = links_[source][i];
		if (next.node == source || !(next.cost < INFINITY))
			continue;
		distances[next.node] = next.cost;
		routes_[next.node] = next.node;
		nearest.push(Reached(next.cost, next.node));
	}
	while (!nearest.empty()) {
		const int node = nearest.top().second;
		nearest.pop();
		if (done[node])
			continue;	// it was reached on a shorter path, too
		done[node] = true;
		for (size_t i = 0; i < links_[node].size(); ++i) {
			const Link& next = links_[node][i];
			const double distance = distances[node] + next.cost;
			if (done[next.node] || !(distance < distances[next.node]))
				continue;
			distances[next.node] = distance;
			routes_[next.node] = routes_[node];
			nearest.push(Reached(distance, next.node));
		}
	}
}

void SparseRoutes::fill(adj_entry* costs, int size) const
{
	for (size_t i = 0; i < now_.size(); ++i)
		for (size_t j = 0; j < now_[i].size(); ++j)
			costs[INDEX(i, now_[i][j].node, size)].cost = now_[i][j].cost;
}

bool SparseRoutes::compute(const adj_entry* costs, int size, route_entry* routes)
{
	SparseRoutes sparse;
	for (int i = 1; i < size; ++i)
		for (int j = 1; j < size; ++j)
			if (costs[INDEX(i, j, size)].cost != INFINITY)
				sparse.insert(i, j, costs[INDEX(i, j, size)].cost);
	if (!sparse.compute())
		return false;
	for (int i = 1; i < size; ++i)
		for (int j = 1; j < size; ++j) {
			const int next = sparse.next_hop(i, j);
			if (i == j || next == 0)
				continue;
			routes[INDEX(i, j, size)].next_hop = next;
			routes[INDEX(i, j, size)].entry = costs[INDEX(i, next, size)].entry;
		}
	return true;
}
